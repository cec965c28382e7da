"""The program in the virtual machine: updates the card, on real partitions and a real ext4.

Run as `python -m image.test.guest_updates FOLDER`, with the folder that test_cuts.py made. After
each step it writes a mark outside the partitions, without a flush, so that the log of writes shows
when the step was reported as complete.
"""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.errors import HealthCheckFailed
from appliance.update.release.installer import ReleaseInstaller
from appliance.update.release.store import ReleaseStore
from appliance.update.system.block_device import BootDisk
from appliance.update.system.slot import SlotName
from appliance.update.system.slot_state import SlotStateFile
from appliance.update.system.updater import SystemUpdater
from tests.update.release.workshop import PaperBox

DISK = Path("/dev/vda")
LABELS = Path("/run/labels")
DATA = Path("/run/data")
MARK_AT = 1 << 20  # between the table and the first partition
MARK = b"step: "
STEPS = ("a release is kept", "a failing release is rolled back", "a system is written",
         "a system is kept")  # fmt: skip


class GuestPi(PaperBox):
    """Health and restarts are simulated; the card and the file system are real."""

    said: str = "0.1.0"
    running: SlotName = "a"

    def slot(self) -> SlotName | None:
        return self.running

    def version(self) -> str | None:
        return self.said

    def supports_tryboot(self) -> bool:
        return True

    def reboot(self, *, trial: bool) -> None:
        """Do nothing: the test emulates the reboot with Firmware."""


def mark(step: str) -> None:
    """Write the name of the step to the disk, past the page cache and without a flush."""
    page = mmap.mmap(-1, 4096)
    page.write(MARK + step.encode())
    fd = os.open(DISK, os.O_WRONLY | os.O_DIRECT)
    try:
        os.pwrite(fd, page, MARK_AT)
    finally:
        os.close(fd)
    print(step, flush=True)


def name_partitions() -> None:
    """Make symlinks to the partitions by label, as udev does on a box."""
    LABELS.mkdir()
    for entry in Path("/sys/class/block").glob("*/uevent"):
        said = dict(line.split("=", 1) for line in entry.read_text().splitlines())
        if "PARTNAME" in said:
            (LABELS / said["PARTNAME"]).symlink_to(f"/dev/{said['DEVNAME']}")


@contextmanager
def mounted() -> Iterator[ReleaseStore]:
    """Mount the data partition with the options of the initramfs."""
    options = "noatime,errors=remount-ro"
    DATA.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "ext4", "-o", options, LABELS / "data", DATA], check=True)
    yield ReleaseStore(DATA / "opt/interlude", Path("/run/interlude-release"))
    subprocess.run(["umount", DATA], check=True)


def main(folder: Path) -> None:
    signers = folder / "allowed_signers"
    name_partitions()
    with mounted() as store:
        box = GuestPi(store, runs="0.1.0")
        installer = ReleaseInstaller(store, box, signers)
        installer.install(folder / "good.release")
        mark(STEPS[0])
        try:
            installer.install(folder / "failing.release")
        except HealthCheckFailed:
            mark(STEPS[1])
        updater = SystemUpdater(
            BootDisk(LABELS), SlotStateFile(store.root / "system"), box, store, signers
        )
        updater.install(folder / "new.system")
        mark(STEPS[2])
    with mounted() as store:  # as after a reboot, from the other slot
        box = GuestPi(store, runs="0.2.0")
        box.running, box.said = "b", "0.2.0"
        SystemUpdater(
            BootDisk(LABELS), SlotStateFile(store.root / "system"), box, store, signers
        ).settle_trial()
        mark(STEPS[3])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
