"""What outlives a slot: each folder of the box below /var/lib, on a partition without rights."""

from __future__ import annotations

import re
from pathlib import Path

from image.initramfs import FOLDER, KEPT

ROOT = Path(__file__).parents[2]


def test_every_folder_of_the_boxs_that_lasts_lies_on_data() -> None:
    rows = (ROOT / "system/usr/lib/tmpfiles.d/interlude.conf").read_text()
    made = set(re.findall(r"^d +/((?:var/lib|etc)/interlude[\w-]*) ", rows, re.MULTILINE))
    assert len(made) == 5
    assert made <= set(KEPT)


def test_no_file_of_data_gives_rights_or_is_a_device() -> None:
    mounts = re.findall(
        r"mount -t (?:ext4|tmpfs) -o (\S+) \S+ /sysroot/data\b", (FOLDER / "init").read_text()
    )
    assert len(mounts) == 2  # the partition, and the memory that stands in for one
    for options in mounts:
        assert {"nosuid", "nodev"} <= set(options.split(","))
