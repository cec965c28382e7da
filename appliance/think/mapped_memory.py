"""Memory of a mapped file that was read once and is not needed again. Linux only.

Loading a model reads its matrices through a mapping and keeps them in memory in an order of its
own; the pages that they were read from stay counted as the process's. Giving them back costs
nothing: what is touched again comes back from the page cache, or from the file.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_MADV_DONTNEED = 4  # asm-generic/mman-common.h; of a shared mapping of a file it drops no data
MAPS = Path("/proc/self/maps")


def release_pages(path: Path) -> int:
    """Let go of every page of `path` that this process has mapped. Bytes of its mappings; 0 where
    there is none, or the kernel says no: the memory is then as it was."""
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
