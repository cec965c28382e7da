"""The two slots of the card, and the file that tells the Pi's firmware which one to start.

autoboot.txt is the only file of the partition `bootconfig`. The firmware starts the
`boot_partition` of [all], or once, after `reboot "0 tryboot"`, that of [tryboot]. Both versions of
the file have the same length, so that a commit is one write of one sector:
raspberrypi.com/documentation, config.txt, "autoboot.txt". image/layout.py defines the partitions; a
test compares it with this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from appliance.errors import StorageError

SlotName = Literal["a", "b"]
CONFIG = "bootconfig"
AUTOBOOT = "autoboot.txt"
CMDLINE = "cmdline.txt"


@dataclass(frozen=True)
class SystemSlot:
    """A slot. `boot`, `system`: labels of its partitions. `number`: of its boot partition, as the
    firmware counts."""

    name: SlotName
    boot: str
    system: str
    number: int


SLOTS: dict[SlotName, SystemSlot] = {
    "a": SystemSlot("a", "boot_a", "system_a", 2),
    "b": SystemSlot("b", "boot_b", "system_b", 3),
}


def other(name: SlotName) -> SlotName:
    return "b" if name == "a" else "a"


def autoboot(name: SlotName) -> str:
    """The text of autoboot.txt that starts the slot `name`, and the other slot on a trial."""
    return (
        "[all]\ntryboot_a_b=1\n"
        f"boot_partition={SLOTS[name].number}\n"
        f"[tryboot]\nboot_partition={SLOTS[other(name)].number}\n"
    )


def starts(text: str) -> SlotName:
    """The slot that autoboot.txt starts. Raises StorageError if it names none of the slots."""
    section = "all"
    for line in map(str.strip, text.splitlines()):
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section = match[1]
        elif (match := re.fullmatch(r"boot_partition\s*=\s*(\d+)", line)) and section == "all":
            for slot in SLOTS.values():
                if slot.number == int(match[1]):
                    return slot.name
    problem = f"{AUTOBOOT} on this card names no system slot to start."
    raise StorageError(problem, "docs/rescue.md tells how to write it anew.")


def cmdline(text: str, name: SlotName) -> str:
    """Change the kernel command line of either slot to that of `name`, in the same length."""
    text = re.sub(r"\bPARTLABEL=system_[ab]\b", f"PARTLABEL=system_{name}", text)
    return re.sub(r"\binterlude\.slot=[ab]\b", f"interlude.slot={name}", text)


def named(command_line: str) -> SlotName | None:
    """The slot that a kernel's command line names; None on a card without slots."""
    found = re.search(r"(?:^|\s)interlude\.slot=([ab])(?=\s|$)", command_line)
    if found is None:
        return None
    return "a" if found[1] == "a" else "b"
