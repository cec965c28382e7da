"""A slot that can start holds only what was signed, whatever happens to the file meanwhile."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.archive_parts import open_parts
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.installer import InstallOptions
from appliance.update.system.archive import SYSTEM_ARCHIVE
from appliance.update.system.request import install_wanted
from image.firmware import TRYBOOT, NoStart
from tests.update.release.attacker import KINDS, exchange
from tests.update.system.workshop import SYSTEM_BYTES, Bench

LIMIT_S = 10.0  # the longest that an installation may wait

pytestmark = [pytest.mark.process, pytest.mark.timeout(60)]


@pytest.fixture
def incoming(at: Bench, tmp_path: Path) -> Path:
    """The card runs 0.1.0, and the installation of 0.2.0 is requested."""
    folder = tmp_path / "incoming"
    folder.mkdir()
    at.archive("0.2.0").rename(folder / "x.system")
    (folder / "wanted-system").write_text("x.system")
    return folder


def change(file: Path, part: int) -> None:
    """Replace the boot (0) or root (1) part with another one that unpacks to the same length."""
    with HandedOverFile(file, SYSTEM_ARCHIVE.most_bytes) as handed:
        _, _, parts = open_parts(handed, "system", *SYSTEM_ARCHIVE.parts)
    gzip = zlib.compressobj(9, wbits=31)
    evil = gzip.compress(b"unsigned" * (SYSTEM_BYTES // 8)) + gzip.flush()
    assert len(evil) < parts[part].size
    with file.open("r+b") as target:
        target.seek(parts[part].at)
        target.write(evil)


def at_the_first_write(at: Bench, act: Callable[[], None]) -> list[str]:
    """Run `act` at the first write, when all checks are done. The list that is returned is empty
    until then."""
    acted: list[str] = []

    def changed() -> None:
        if not acted:
            acted.append("yes")
            act()

    at.card.changed = changed
    return acted


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_kind_is_refused_at_once(at: Bench, incoming: Path, kind: str) -> None:
    (incoming / "x.system").unlink()
    KINDS[kind](incoming / "x.system")
    began = time.monotonic()
    with pytest.raises(ReleaseRefused):
        install_wanted(at.updater(), InstallOptions(), incoming)
    with pytest.raises(ReleaseRefused):
        at.updater().install(incoming / "x.system")
    assert time.monotonic() - began < LIMIT_S
    assert at.card.notes == []


@pytest.mark.parametrize("part", [0, 1], ids=["boot", "root"])
def test_a_part_that_changes_after_the_check_is_detected_and_never_starts(
    at: Bench, incoming: Path, part: int
) -> None:
    acted = at_the_first_write(at, lambda: change(incoming / "x.system", part))
    with pytest.raises(ReleaseRefused, match="damaged"):
        install_wanted(at.updater(), InstallOptions(), incoming)
    assert acted
    assert (at.slot_state.content("b"), at.machine.asked) == (None, [])
    with pytest.raises(NoStart):
        at.machine.power(TRYBOOT)
    assert at.version_that_starts() == "0.1.0"


def test_exchanging_the_name_after_the_check_changes_nothing(at: Bench, incoming: Path) -> None:
    """Neither what is written nor which file is removed in the end."""
    file, other = incoming / "x.system", incoming / "other"
    at.archive("0.3.0").rename(other)
    acted = at_the_first_write(at, lambda: exchange(file, other))
    assert install_wanted(at.updater(), InstallOptions(), incoming)
    assert acted
    at.machine.power(TRYBOOT)
    assert at.machine.said == "0.2.0"
    assert file.exists()


@pytest.mark.parametrize("left", [0, 3000])
def test_a_file_that_becomes_shorter_after_the_check_is_refused(
    at: Bench, incoming: Path, left: int
) -> None:
    acted = at_the_first_write(at, lambda: os.truncate(incoming / "x.system", left))
    with pytest.raises(ReleaseRefused, match="became shorter"):
        install_wanted(at.updater(), InstallOptions(), incoming)
    assert acted
    with pytest.raises(NoStart):
        at.machine.power(TRYBOOT)
