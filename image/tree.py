"""Lists a file tree, one line a file, so that two builds can be compared.

`python -m image.tree A B` compares two trees, or two listings that the build wrote.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

_SHOWN = 20  # differences that are printed at most


def listing(root: Path) -> str:
    """Path, mode, owner, content and extended attributes of everything below `root`, sorted."""
    return "".join(f"{line}\n" for line in sorted(_rows(root)))


def digest(text: str) -> str:
    """The hash of a listing."""
    return sha256(text.encode()).hexdigest()


def differences(before: str, after: str) -> list[str]:
    """Paths removed, changed or added from `before` to `after`: `- path`, `! path`, `+ path`."""
    first, second = (
        {line.split("\t")[0]: line for line in text.splitlines()} for text in (before, after)
    )
    found = []
    for path in sorted(first.keys() | second.keys()):
        if first.get(path) != second.get(path):
            mark = "+" if path not in first else "-" if path not in second else "!"
            found.append(f"{mark} {path}")
    return found


def _rows(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder) / name
            status = path.lstat()
            content = ""
            if stat.S_ISREG(status.st_mode):
                content = sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(status.st_mode):
                content = str(path.readlink())
            attributes = [f"{key}={os.getxattr(path, key, follow_symlinks=False).hex()}"
                          for key in sorted(os.listxattr(path, follow_symlinks=False))]  # fmt: skip
            yield "\t".join(
                (str(path.relative_to(root)), f"{status.st_mode:o}",
                 f"{status.st_uid}:{status.st_gid}", content, *attributes)
            )  # fmt: skip


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("python -m image.tree A B: two trees, or two listings", file=sys.stderr)
        return 64
    before, after = (
        listing(path) if path.is_dir() else path.read_text() for path in map(Path, arguments)
    )
    found = differences(before, after)
    print("\n".join(found[:_SHOWN]))
    print(f"{digest(before)[:16]} and {digest(after)[:16]}: {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
