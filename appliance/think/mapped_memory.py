"""Releases the pages of a mapped file that was read once and is not needed again. Linux only.

llama.cpp loads a model's matrices through a mapping and copies them into its own layout; the pages
that it read stay in the process's resident memory. Releasing them loses nothing: a page that is
accessed again comes from the page cache or from the file.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_MADV_DONTNEED = 4  # asm-generic/mman-common.h; drops no data of a shared file mapping
MAPS = Path("/proc/self/maps")


def release_pages(path: Path) -> int:
    """Release every page of `path` that this process has mapped. Return the size of the mappings
    in bytes; 0 if there is none or madvise fails, which leaves the memory as it was."""
    libc = ctypes.CDLL(None, use_errno=True)
    name = os.fsencode(path.resolve())
    bytes_ = 0
    for line in MAPS.read_bytes().splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[5] == name and fields[1].startswith(b"r--s"):
            start, end = (int(number, 16) for number in fields[0].split(b"-"))
            size = ctypes.c_size_t(end - start)
            if libc.madvise(ctypes.c_void_p(start), size, _MADV_DONTNEED) == 0:
                bytes_ += end - start
    return bytes_
