"""The data partition, grown to the card's end while it is in use: by sfdisk, partx and resize2fs.

Each step looks whether it is still to be done, so that a start which is cut short goes on at the
next. sfdisk writes the copy of the table at the card's end before the table itself (UEFI, 5.3.2):
cut in between, one of the two is whole, and the kernel and sfdisk take that one.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import StorageError
from appliance.update.system.block_device import LABELS

SECTOR = 512  # what the kernel counts in, whatever the card has
NAME = "data"
TABLE_SECTORS = 34  # of the table's copy at the end
WORTH_SECTORS = 8 << 11  # 8 MiB: less is left alone

RunCommand = Callable[[list[str], str], str]  # a command and what it is told → what it says


@dataclass(frozen=True)
class PartitionPlace:
    """A partition in sectors: on which disk, as which number, from where, and how long."""

    device: Path
    disk: Path
    number: int
    start: int
    size: int
    disk_size: int

    @property
    def room(self) -> int:
        """Sectors between its end and the disk's."""
        return self.disk_size - TABLE_SECTORS - (self.start + self.size)


def find(labels: Path = LABELS, block: Path = Path("/sys/class/block")) -> PartitionPlace:
    """Where `data` lies. Raises StorageError on a machine that has none."""
    try:
        device = (labels / NAME).resolve(strict=True)
        own = (block / device.name).resolve(strict=True)
        disk = own.parent
        number, start, size = (
            int((own / name).read_text()) for name in ("partition", "start", "size")
        )
        whole = int((disk / "size").read_text())
        return PartitionPlace(device, Path("/dev") / disk.name, number, start, size, whole)
    except (OSError, ValueError) as error:
        problem = f"There is no partition `{NAME}` to grow."
        raise StorageError(problem, "This machine was not started from a card of ours.") from error


def grow(place: PartitionPlace, run: RunCommand | None = None) -> bool:
    """Let partition and file system fill the disk. Whether it grew. Raises StorageError."""
    run = run or command
    grown = place.room >= WORTH_SECTORS
    if grown:
        resize(place.disk, place.number, run)
        # The partition is in use: its new end is told to the kernel without reading it all anew.
        run(["partx", "--update", "--nr", str(place.number), str(place.disk)], "")
    run(["resize2fs", str(place.device)], "")  # says so and does nothing where all is done
    return grown


def resize(disk: Path, number: int, run: RunCommand) -> None:
    """Change the table: partition `number` goes on to the end, everything else stays."""
    run(["sfdisk", "--quiet", "--force", "--no-reread", "--no-tell-kernel",
         f"--partno={number}", str(disk)], ", +\n")  # fmt: skip


def command(words: list[str], said: str) -> str:
    """Run one of Debian's. Raises StorageError with its last words."""
    try:
        done = subprocess.run(
            words, input=said, capture_output=True, text=True, check=False, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StorageError(f"{words[0]} cannot be run ({error}).") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise StorageError(f"{words[0]} did not do it: {' '.join(last)}.")
    return done.stdout
