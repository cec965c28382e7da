"""The two slots as the firmware, the image's layout and the kernel command line name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.update.system.slot import SLOTS, autoboot, cmdline, named, other, starts
from image import layout


def test_the_box_and_the_image_use_the_same_partitions() -> None:
    assert {slot.name: (slot.boot, slot.system) for slot in SLOTS.values()} == layout.SLOTS
    for slot in SLOTS.values():
        assert slot.number == layout.number(slot.boot)
        assert autoboot(slot.name) == layout.autoboot(slot.name)


def test_autoboot_is_read_as_written_and_has_one_length_for_both_slots() -> None:
    for name in SLOTS:
        assert starts(autoboot(name)) == name
        assert len(autoboot(name)) == len(autoboot(other(name)))
    assert autoboot("a") != autoboot("b")


@pytest.mark.parametrize("text", ["", "boot_partition=7\n", "[tryboot]\nboot_partition=2\n"])
def test_a_file_that_names_no_slot_is_reported(text: str) -> None:
    with pytest.raises(StorageError, match="names no system slot"):
        starts(text)


def test_a_command_line_is_converted_to_either_slot() -> None:
    shipped = (Path(__file__).parents[3] / "image/boot/cmdline.txt.in").read_text()
    a = shipped.replace("@SYSTEM@", "system_a").replace("@SLOT@", "a")
    b = cmdline(a, "b")
    assert b == shipped.replace("@SYSTEM@", "system_b").replace("@SLOT@", "b")
    assert (cmdline(b, "a"), cmdline(a, "a")) == (a, a)
    assert (named(a), named(b), named("root=/dev/sda1 quiet")) == ("a", "b", None)
    assert len(a) <= 512  # one sector, so that it can be replaced in place
