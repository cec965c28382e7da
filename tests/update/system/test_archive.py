"""Nothing of a system archive is written if it is signed with another key or was changed."""

from __future__ import annotations

import re

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.system.archive import CHUNK, SYSTEM_ARCHIVE, SystemArchive
from tests.update.system.workshop import Bench

pytestmark = pytest.mark.process


def test_an_archive_signed_with_another_key_is_not_written(at: Bench) -> None:
    archive = at.archive("0.2.0", key="stranger")
    with pytest.raises(ReleaseRefused, match="not signed with a key"):
        at.updater().install(archive)
    assert at.card.notes == []


@pytest.mark.parametrize("which", [0, 1], ids=["boot", "root"])
def test_a_changed_archive_is_not_written(at: Bench, which: int) -> None:
    archive = at.archive("0.2.0")
    data = bytearray(archive.read_bytes())
    begins = [found.start() for found in re.finditer(rb"\x1f\x8b\x08\0\0\0\0\0", data)]
    data[begins[which] + 6000] ^= 0x10  # at a place where neither part is all zeros
    archive.write_bytes(data)
    with pytest.raises(ReleaseRefused):
        at.updater().install(archive)
    assert at.card.notes == []


def test_a_truncated_archive_is_not_written(at: Bench) -> None:
    archive = at.archive("0.2.0")
    archive.write_bytes(archive.read_bytes()[:-30_000])
    with pytest.raises(ReleaseRefused):
        at.updater().install(archive)
    assert at.card.notes == []


def test_the_parts_are_unpacked_as_they_were_packed_any_number_of_times(at: Bench) -> None:
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
