"""A system's archive: what a stranger signed, or anybody changed, brings not a byte."""

from __future__ import annotations

import re

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.system.archive import CHUNK, SYSTEM_ARCHIVE, SystemArchive
from tests.update.system.workshop import Bench

pytestmark = pytest.mark.process


def test_what_a_stranger_signed_is_not_written(at: Bench) -> None:
    archive = at.archive("0.2.0", key="stranger")
    with pytest.raises(ReleaseRefused, match="not signed with a key"):
        at.updater().install(archive)
    assert at.card.notes == []


@pytest.mark.parametrize("which", [0, 1], ids=["boot", "root"])
def test_what_was_changed_is_not_written(at: Bench, which: int) -> None:
    archive = at.archive("0.2.0")
    data = bytearray(archive.read_bytes())
    begins = [found.start() for found in re.finditer(rb"\x1f\x8b\x08\0\0\0\0\0", data)]
    data[begins[which] + 6000] ^= 0x10  # where neither is all zeros
    archive.write_bytes(data)
    with pytest.raises(ReleaseRefused):
        at.updater().install(archive)
    assert at.card.notes == []


def test_what_is_only_half_there_is_not_written(at: Bench) -> None:
    archive = at.archive("0.2.0")
    archive.write_bytes(archive.read_bytes()[:-30_000])
    with pytest.raises(ReleaseRefused):
        at.updater().install(archive)
    assert at.card.notes == []


def test_its_parts_come_out_as_they_went_in_again_and_again(at: Bench) -> None:
    made = at.foundry.make("0.2.0")
    with HandedOverFile(at.archive("0.2.0"), SYSTEM_ARCHIVE.most_bytes) as handed:
        archive = SystemArchive(handed, at.foundry.shop.signers)
        shares: list[float] = []
        archive.verify(shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0
        for _ in range(2):
            boot, system = list(archive.boot()), list(archive.system())
            assert {len(chunk) for chunk in boot[:-1]} <= {CHUNK}
            assert made.boot.read_bytes().startswith(b"".join(boot))
            assert b"".join(system) == made.system.read_bytes()
