"""The table of the SD card's partitions: two slots for a system, and `data`, which both share.

It follows rpi-image-gen's A/B layout. All FAT partitions come first, because the Pi's firmware had
trouble with others in between. `bootconfig` has only autoboot.txt, which selects the slot.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Literal

ALIGN_MIB = 8  # start of the first partition; SD cards erase 4 MiB at once, some 8
FAT = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"  # GPT: basic data, the type the firmware looks for
LINUX = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
# GPT attributes of a basic data partition (bits 48 to 63 are Windows'): hidden, no drive letter.
# Without them Windows offers to format a slot that has no file system.
_HIDDEN = "GUID:62,63"
_NAMESPACE = uuid.UUID("5b6c2b1e-6f0e-5a0c-9d5e-1c0f7a2d4e11")  # of uuid5; any fixed one would do


@dataclass(frozen=True)
class Partition:
    """One row.

    mib     size on a new card; `data` grows to the card's end at the first boot
    unseen  hidden from a computer that the card is put into
    """

    name: str
    mib: int
    holds: Literal["fat", "erofs", "ext4"]
    unseen: bool = False

    @property
    def type(self) -> str:
        return FAT if self.holds == "fat" else LINUX


LAYOUT = (
    Partition("bootconfig", 40, "fat"),
    Partition("boot_a", 128, "fat"),
    Partition("boot_b", 128, "fat", unseen=True),  # empty on a new card
    Partition("system_a", 1536, "erofs"),
    Partition("system_b", 1536, "erofs"),
    Partition("data", 768, "ext4"),
)
SLOTS = {"a": ("boot_a", "system_a"), "b": ("boot_b", "system_b")}


def number(name: str) -> int:
    """The partition's number, counted from 1 as in the firmware. Raises StopIteration."""
    return next(i for i, row in enumerate(LAYOUT, 1) if row.name == name)


def total_mib() -> int:
    """Size of the image: the GPT at the start, the partitions, the GPT's copy at the end."""
    return ALIGN_MIB + sum(row.mib for row in LAYOUT) + 1


def script(version: str) -> str:
    """The input of sfdisk. All UUIDs are derived from `version`: the build is reproducible."""
    disk_uuid = uuid.uuid5(_NAMESPACE, version)
    lines = ["label: gpt", f"label-id: {disk_uuid}", "unit: sectors", ""]
    start = ALIGN_MIB
    for row in LAYOUT:
        partition_uuid = uuid.uuid5(disk_uuid, row.name)
        attributes = f', attrs="{_HIDDEN}"' if row.unseen else ""
        lines.append(
            f"start={start * 2048}, size={row.mib * 2048}, type={row.type}, "
            f'uuid={partition_uuid}, name="{row.name}"{attributes}'
        )
        start += row.mib
    return "\n".join(lines) + "\n"


def autoboot(slot: str) -> str:
    """autoboot.txt that starts `slot`, and the other slot in a trial boot."""
    other = "b" if slot == "a" else "a"
    return (
        "[all]\ntryboot_a_b=1\n"
        f"boot_partition={number(SLOTS[slot][0])}\n"
        f"[tryboot]\nboot_partition={number(SLOTS[other][0])}\n"
    )
