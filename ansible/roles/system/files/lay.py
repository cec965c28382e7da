"""lay.py [--check] [ROOT]: makes a box's files those of a tar: pack.py's words, on stdin.

Each is compared, and written only where it differs: so a unit that somebody changed is mended, and
a second run changes nothing. What an earlier run laid and the tar has no more is taken away. Prints
the paths that were changed; with --check those that would be.
"""

from __future__ import annotations

import base64
import gzip
import io
import os
import stat
import sys
import tarfile
from pathlib import Path

LAID = "usr/lib/interlude/laid"  # the installed paths, one a line; a file among them


def lay(packed: bytes, root: Path, *, check: bool = False) -> list[str]:
    """The paths that differed. The list of them all is written last."""
    meant: dict[str, tuple[int, bytes]] = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed))) as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                meant[member.name] = member.mode, file.read()
    listed = "".join(f"{name}\n" for name in sorted(meant))
    gone = [name for name in _laid(root) if name not in meant and os.path.lexists(root / name)]
    meant[LAID] = 0o644, listed.encode()
    differ = [name for name, (mode, data) in meant.items() if not _same(root / name, mode, data)]
    if not check:
        for name in gone:
            (root / name).unlink()
        for name in differ:
            _write(root / name, *meant[name])
    return [*gone, *differ]


def _laid(root: Path) -> list[str]:
    try:
        return (root / LAID).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def _same(path: Path, mode: int, data: bytes) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) != mode:
        return False
    return found.st_uid == os.geteuid() and path.read_bytes() == data


def _write(path: Path, mode: int, data: bytes) -> None:
    """The old file or the new one, whatever happens."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    with fresh.open("xb") as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


if __name__ == "__main__":
    os.umask(0o022)
    words = [word for word in sys.argv[1:] if word != "--check"]
    changed = lay(
        base64.b64decode(sys.stdin.buffer.read()),
        Path(words[0]) if words else Path("/"),
        check="--check" in sys.argv[1:],
    )
    sys.stdout.writelines(f"{name}\n" for name in changed)
