"""Grows the mounted data partition to the end of the card with sfdisk, partx and resize2fs.

Each step checks whether it is still needed, so that an interrupted boot continues at the next one.
sfdisk writes the backup table at the card's end before the primary table (UEFI, 5.3.2): after a
power cut in between, one of the two is valid, and the kernel and sfdisk use that one.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import StorageError
from appliance.update.system.block_device import LABELS

SECTOR = 512  # the kernel's unit, independent of the card's sector size
NAME = "data"
TABLE_SECTORS = 34  # reserved for the backup table at the end
WORTH_SECTORS = 8 << 11  # 8 MiB: the partition is not grown for less

RunCommand = Callable[[list[str], str], str]  # a command and its stdin → its stdout


@dataclass(frozen=True)
class PartitionPlace:
    """A partition: its disk, its number, and start and size in sectors."""

    device: Path
    disk: Path
    number: int
    start: int
    size: int
    disk_size: int

    @property
    def room(self) -> int:
        """Free sectors between the partition's end and the backup table."""
        return self.disk_size - TABLE_SECTORS - (self.start + self.size)


def find(labels: Path = LABELS, block: Path = Path("/sys/class/block")) -> PartitionPlace:
    """Find the partition `data`. Raises StorageError on a machine that has none."""
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
    """Grow partition and file system to the end of the disk. Returns whether the partition grew.
    Raises StorageError."""
    run = run or command
    grown = place.room >= WORTH_SECTORS
    if grown:
        resize(place.disk, place.number, run)
        # The partition is in use: partx updates its size without a re-read of the whole table.
        run(["partx", "--update", "--nr", str(place.number), str(place.disk)], "")
    run(["resize2fs", str(place.device)], "")  # does nothing if the file system fills the partition
    return grown


def resize(disk: Path, number: int, run: RunCommand) -> None:
    """Change the partition table so that partition `number` extends to the end."""
    run(["sfdisk", "--quiet", "--force", "--no-reread", "--no-tell-kernel",
         f"--partno={number}", str(disk)], ", +\n")  # fmt: skip


def command(words: list[str], stdin: str) -> str:
    """Run a command; `stdin` is its input. Raises StorageError with the last line of its output."""
    try:
        done = subprocess.run(
            words, input=stdin, capture_output=True, text=True, check=False, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StorageError(f"{words[0]} cannot be run ({error}).") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise StorageError(f"{words[0]} failed: {' '.join(last)}.")
    return done.stdout
