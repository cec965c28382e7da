"""Writing a slot: what is refused before the first write, and data that the card did not keep."""

from __future__ import annotations

import os

import pytest

from appliance.errors import ReleaseRefused, StorageError
from appliance.update.release.installer import InstallOptions
from image.firmware import TRYBOOT, NoStart
from tests.update.system.workshop import Bench

pytestmark = pytest.mark.process


def test_a_damaged_boot_partition_gets_no_trial(at: Bench) -> None:
    at.updater().install(at.archive("0.2.0"), InstallOptions(start=False))
    at.card.poke("boot_b", 0, bytes(512))
    with pytest.raises(ReleaseRefused, match="no whole system"):
        at.updater().begin_trial(0.0)
    assert at.machine.asked == []


def test_a_card_that_does_not_keep_its_writes_is_detected_before_the_trial(at: Bench) -> None:
    at.card.lossy = "system_b"
    with pytest.raises(StorageError, match="did not keep"):
        at.updater().install(at.archive("0.2.0"))
    assert at.machine.asked == []
    with pytest.raises(NoStart):
        at.machine.power(TRYBOOT)
    assert at.version_that_starts() == "0.1.0"


def test_a_foreign_root_is_refused_before_the_slot_can_start(at: Bench) -> None:
    archive = at.archive("0.2.0", cmdline="root=/dev/mmcblk0p2 quiet\n")
    with pytest.raises(StorageError, match="names no root of ours"):
        at.updater().install(archive)
    with pytest.raises(NoStart):
        at.machine.power(TRYBOOT)


def test_a_system_that_does_not_fit_is_reported(at: Bench) -> None:
    archive = at.archive("0.2.0")
    os.truncate(at.card.place("system_b"), 1024)
    with pytest.raises(StorageError, match="MiB on `system_b`"):
        at.updater().install(archive)
