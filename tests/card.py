"""A memory card for tests: a mounted ext4 image, whose content can be read as raw bytes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import skips


class Card:
    """`at`: the mount point."""

    def __init__(self, image: Path, at: Path) -> None:
        self.image = image
        self.at = at

    def count(self, word: bytes) -> int:
        """How often `word` is on the raw device, inside or outside of files."""
        fd = os.open(self.at, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        os.sync()
        return self.image.read_bytes().count(word)

    def mounted(self, how: str) -> None:
        """Remount as "ro" or "rw". No file on it may be open for writing."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.at)], check=True)

    def fill(self) -> Path:
        """Fill the card until no block is free, also for root. Returns the file that fills it."""
        filler = self.at / "filler"
        with filler.open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1 << 10, 1):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    continue
        return filler


@contextmanager
def card(folder: Path, mib: int = 8) -> Iterator[Card]:
    """Mount a card, or skip the test if that is not permitted. `folder`: holds image and mount."""
    image, at = folder / "card.img", folder / "card"
    at.mkdir()
    with image.open("wb") as file:
        file.truncate(mib << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-F", "-m", "0", str(image)], check=True)
    mount = ["mount", "-o", "loop", str(image), str(at)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip(skips.MOUNTS)
    try:
        yield Card(image, at)
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)
