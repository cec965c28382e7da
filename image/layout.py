"""The card's partitions: one table. Two slots of the system, and what outlives both on `data`.

After rpi-image-gen's A/B layout. All FAT partitions come first: the Pi's firmware had trouble
with others in between. `bootconfig` holds autoboot.txt alone, which says which slot starts.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Literal

ALIGN_MIB = 8  # of the first partition; SD cards erase 4 MiB at once, and some 8
FAT = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"  # GPT: basic data, what the firmware looks for
LINUX = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
# GPT's attributes of basic data (UEFI's table, bits 48 to 63 as Windows names them): hidden, and no
# drive letter. A slot without a file system is otherwise offered to be formatted.
_UNSEEN = "GUID:62,63"
_SPACE = uuid.UUID("5b6c2b1e-6f0e-5a0c-9d5e-1c0f7a2d4e11")  # of our names; any fixed one would do


@dataclass(frozen=True)
class Partition:
    """One row. `mib`: on a new card; `data` grows to the card's end at the first boot. `unseen`:
    by a computer that the card is put into."""

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
    """The partition's number, from 1, as the firmware counts. Raises StopIteration."""
    return next(i for i, row in enumerate(LAYOUT, 1) if row.name == name)


def total_mib() -> int:
    """Of the image: the table at the start, the partitions, the table's copy at the end."""
    return ALIGN_MIB + sum(row.mib for row in LAYOUT) + 1


def script(version: str) -> str:
    """What sfdisk is told. The same version, the same ids: the same image."""
    card = uuid.uuid5(_SPACE, version)
    lines = ["label: gpt", f"label-id: {card}", "unit: sectors", ""]
    start = ALIGN_MIB
    for row in LAYOUT:
        own = uuid.uuid5(card, row.name)
        seen = f', attrs="{_UNSEEN}"' if row.unseen else ""
        lines.append(
            f"start={start * 2048}, size={row.mib * 2048}, type={row.type}, "
            f'uuid={own}, name="{row.name}"{seen}'
        )
        start += row.mib
    return "\n".join(lines) + "\n"


def autoboot(slot: str) -> str:
    """autoboot.txt with `slot` as the one that starts; the other is what a trial starts, once."""
    other = "b" if slot == "a" else "a"
    return (
        "[all]\ntryboot_a_b=1\n"
        f"boot_partition={number(SLOTS[slot][0])}\n"
        f"[tryboot]\nboot_partition={number(SLOTS[other][0])}\n"
    )
