"""The partitions of a card as a computer sees them."""

from __future__ import annotations

import struct
import uuid
from pathlib import Path

import pytest

from appliance.provision.growpart import command, resize
from image import disk, layout
from image.disk import SECTOR

pytestmark = pytest.mark.process

NO_LETTER, HIDDEN = 1 << 63, 1 << 62  # Windows: GPT_BASIC_DATA_ATTRIBUTE_NO_DRIVE_LETTER, _HIDDEN


def entries(image: Path) -> dict[str, tuple[uuid.UUID, int, int, int]]:
    """The partition table in its binary form (UEFI 5.3.3): name → type, first and last sector,
    attributes."""
    with image.open("rb") as file:
        file.seek(2 * SECTOR)
        rows = [file.read(128) for _ in layout.LAYOUT]
    found = {}
    for row in rows:
        first, last, attributes = struct.unpack_from("<QQQ", row, 32)
        name = row[56:].decode("utf-16-le").rstrip("\0")
        found[name] = (uuid.UUID(bytes_le=row[:16]), first, last, attributes)
    return found


@pytest.fixture
def card(tmp_path: Path) -> Path:
    image = tmp_path / "card.img"
    disk.assemble(image, {}, "0.1.0")
    return image


def test_only_the_empty_boot_slot_is_hidden_and_gets_no_drive_letter(card: Path) -> None:
    attributes = {name: row[3] for name, row in entries(card).items()}
    assert attributes.pop("boot_b") == NO_LETTER | HIDDEN
    assert set(attributes.values()) == {0}


def test_the_second_boot_slot_has_its_fixed_place_and_a_type_that_the_firmware_accepts(
    card: Path,
) -> None:
    kind, first, last, _ = entries(card)["boot_b"]
    assert kind == uuid.UUID(layout.FAT)
    assert disk.offsets(card)["boot_b"] == first * SECTOR == (8 + 40 + 128) << 20
    assert (last + 1 - first) * SECTOR == 128 << 20


def test_the_second_boot_slot_stays_hidden_when_the_data_partition_grows(card: Path) -> None:
    with card.open("r+b") as file:
        file.truncate((layout.total_mib() + 64) << 20)
    before = entries(card)
    resize(card, layout.number("data"), command)
    after = entries(card)
    assert after.pop("data")[2] > before.pop("data")[2]
    assert after == before
