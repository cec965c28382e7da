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


def differences(one: str, two: str) -> list[str]:
    """Paths removed, changed or added from `one` to `two`: `- path`, `! path`, `+ path`."""
    first, second = (
        {line.split("\t")[0]: line for line in text.splitlines()} for text in (one, two)
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
            about = path.lstat()
            said = ""
            if stat.S_ISREG(about.st_mode):
                said = sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(about.st_mode):
                said = str(path.readlink())
            marks = [f"{mark}={os.getxattr(path, mark, follow_symlinks=False).hex()}"
                     for mark in sorted(os.listxattr(path, follow_symlinks=False))]  # fmt: skip
            yield "\t".join(
                (str(path.relative_to(root)), f"{about.st_mode:o}",
                 f"{about.st_uid}:{about.st_gid}", said, *marks)
            )  # fmt: skip


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("python -m image.tree A B: two trees, or two listings", file=sys.stderr)
        return 64
    one, two = (
        listing(path) if path.is_dir() else path.read_text() for path in map(Path, arguments)
    )
    found = differences(one, two)
    print("\n".join(found[:_SHOWN]))
    print(f"{digest(one)[:16]} and {digest(two)[:16]}: {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
