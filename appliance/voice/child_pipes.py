"""The pipes of a child process, read without waiting."""

from __future__ import annotations

import os
import subprocess
from typing import IO

_READ_BYTES = 1 << 16  # the capacity of a pipe


def pipes_of(child: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """The child's stdin, stdout and stderr, all of which must be pipes."""
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    return child.stdin, child.stdout, child.stderr


def read_available(pipe: IO[bytes]) -> bytes | None:
    """The content of a pipe; None if it is empty, b"" at its end."""
    try:
        return os.read(pipe.fileno(), _READ_BYTES)
    except BlockingIOError:
        return None
