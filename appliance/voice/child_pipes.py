"""The pipes of a child, read without waiting."""

from __future__ import annotations

import os
import subprocess
from typing import IO

_READ_BYTES = 1 << 16  # as much as a pipe holds


def pipes_of(child: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """What it reads, writes and complains on, all of which are pipes."""
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    return child.stdin, child.stdout, child.stderr


def taken(pipe: IO[bytes]) -> bytes | None:
    """What a pipe holds; None for nothing yet, b"" at its end."""
    try:
        return os.read(pipe.fileno(), _READ_BYTES)
    except BlockingIOError:
        return None
