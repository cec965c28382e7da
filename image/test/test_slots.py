"""Slots on a complete card image: partitioned as in image/layout.py, written by the box's own code,
started by the emulated firmware."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed
from appliance.update.system.block_device import BlockDevice, ImageDisk
from appliance.update.system.slot import CONFIG, SLOTS, autoboot
from image import disk, layout
from image.firmware import TRYBOOT, Firmware, NoStart, places
from tests.update.system.workshop import Bench, Foundry, PaperCard, bench, fat, foundry


class WholeCard(PaperCard):
    """All partitions in one file."""

    def __init__(self, image: Path) -> None:
        super().__init__(image.parent)
        self.image = image
        self.offsets = disk.offsets(image)
        sizes = {row.name: row.mib << 20 for row in layout.LAYOUT}
        self._inner = ImageDisk(image, {n: (at, sizes[n]) for n, at in self.offsets.items()})

    @contextmanager
    def part(self, name: str) -> Iterator[BlockDevice]:
        with self._inner.part(name) as part:
            yield part

    def firmware(self) -> Firmware:
        fats = (CONFIG, *(slot.boot for slot in SLOTS.values()))
        return Firmware(places(self.image, self.offsets, fats))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Foundry:
    return foundry(tmp_path_factory.mktemp("systems"))


@pytest.fixture
def at(tmp_path: Path, made: Foundry) -> Bench:
    """A card partitioned as by `make image`, which runs 0.1.0 from slot a."""
    found = bench(tmp_path, made)
    first = made.make("0.1.0")
    config = fat(tmp_path / "whole.fat", {"autoboot.txt": autoboot("a").encode()})
    image = tmp_path / "card.img"
    parts = {CONFIG: config, "boot_a": first.boot, "system_a": first.system}
    disk.assemble(image, parts, "0.1.0")
    found.card = found.machine.card = WholeCard(image)
    found.machine.power()
    return found


def test_a_good_system_is_kept_and_the_next_goes_into_the_first_slot(at: Bench) -> None:
    for version, slot in (("0.2.0", "b"), ("0.3.0", "a")):
        at.updater().install(at.archive(version))
        at.machine.power(TRYBOOT)
        at.updater().settle_trial()
        assert at.version_that_starts() == version
        assert at.machine.running == slot
    assert "No errors detected" in disk.tell("sfdisk", "--verify", str(at.folder / "card.img"))


def test_a_failing_system_is_left(at: Bench) -> None:
    at.machine.kinds["0.2.0"] = "crashes"
    at.updater().install(at.archive("0.2.0"))
    at.machine.power(TRYBOOT)
    with pytest.raises(HealthCheckFailed):
        at.updater().settle_trial()
    assert at.version_that_starts() == "0.1.0"


def test_a_slot_whose_boot_files_are_gone_is_no_start_and_the_old_one_is(at: Bench) -> None:
    at.updater().install(at.archive("0.2.0"))
    with at.card.part("boot_b") as boot:
        boot.write(0, bytes(1 << 20))
    with pytest.raises(NoStart):
        at.machine.power(TRYBOOT)
    assert at.version_that_starts() == "0.1.0"
    assert "did not come up" in at.updater().settle_trial()


def test_a_slot_that_rotted_is_left(at: Bench) -> None:
    at.updater().install(at.archive("0.2.0"))
    with at.card.part("system_b") as system:
        system.write(0, bytes(4096))
    at.machine.power(TRYBOOT)
    with pytest.raises(HealthCheckFailed):
        at.updater().settle_trial()
    assert at.version_that_starts() == "0.1.0"


def test_a_commit_changes_one_sector_of_the_whole_card(at: Bench) -> None:
    at.updater().install(at.archive("0.2.0"))
    at.machine.power(TRYBOOT)
    with at.card.part(CONFIG) as config:
        before = config.read(0, config.size)
        at.updater().settle_trial()
        after = config.read(0, config.size)
    sectors = range(0, len(before), 512)
    assert sum(before[at : at + 512] != after[at : at + 512] for at in sectors) == 1
