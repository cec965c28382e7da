"""pack.py SOURCE PART…: folders of SOURCE as one tar, gzipped, in base64, on stdout.

The same files make the same bytes. Owners are root's, and a file's mode says only whether it can be
run: that is all that git keeps.
"""

from __future__ import annotations

import base64
import gzip
import io
import sys
import tarfile
from pathlib import Path


def pack(source: Path, parts: list[str]) -> bytes:
    """Raises FileNotFoundError for a part that is not there."""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for part in parts:
            folder = source / part
            if not folder.is_dir():
                raise FileNotFoundError(f"There is no folder {folder}.")
            for path in sorted(folder.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    info = tarfile.TarInfo(str(path.relative_to(source)))
                    info.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
                    data = path.read_bytes()
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
    return gzip.compress(into.getvalue(), mtime=0)


if __name__ == "__main__":
    sys.stdout.write(base64.b64encode(pack(Path(sys.argv[1]), sys.argv[2:])).decode())
