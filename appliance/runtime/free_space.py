"""Free space on a disk, and how much of it downloads and imports leave."""

from __future__ import annotations

import shutil
from pathlib import Path

SPARE_BYTES = 256 << 20  # left free on the disk, as booting with a full disk is unreliable


def lacking_bytes(needed: int, free: int) -> int:
    """Bytes that are missing for `needed` bytes to fit while SPARE_BYTES stay free; 0 if they
    fit."""
    return max(0, needed + SPARE_BYTES - free)


def free_bytes(folder: Path) -> int:
    """Free bytes on the disk of `folder`."""
    return shutil.disk_usage(folder).free
