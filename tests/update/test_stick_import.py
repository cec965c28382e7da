"""A complete, signed, newer release or system for this machine is copied from a stick, and nothing
else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused, StorageError
from appliance.language.catalogue import BoxSentence
from appliance.runtime.free_space import SPARE_BYTES
from appliance.update.handed_over_file import HandedOverFile
from appliance.update.release.archive import RELEASE
from appliance.update.release.installer import InstallOptions
from appliance.update.release.look_record import LookReporter, read
from appliance.update.request import install_wanted, offers, request_install
from appliance.update.stick_import import bring
from tests.update.release.workshop import Bench, bench
from tests.update.system.workshop import Foundry, foundry

pytestmark = pytest.mark.process
PLENTY = 1 << 40
NONE = BoxSentence.of("page-look-stick-none")


@pytest.fixture
def at(tmp_path: Path) -> Bench:
    """The box keeps 0.2.0."""
    made = bench(tmp_path)
    made.installer().install(made.shop.make("0.2.0"))
    return made


class Stick:
    """`folder`: the mounted stick. `incoming`: the incoming folder of the box."""

    def __init__(self, root: Path, at: Bench) -> None:
        self.folder, self.incoming, self.looked = root / "stick", root / "incoming", root / "looked"
        for folder in (self.folder, self.incoming, self.looked):
            folder.mkdir()
        self.os_release, self.at = root / "os-release", at
        self.signers = at.shop.signers

    def bring(self, free: int = PLENTY) -> BoxSentence:
        with LookReporter("stick", self.looked).looking() as reporter:
            return bring(
                self.folder, reporter, self.at.store, self.incoming, self.os_release, self.signers,
                lambda _: free,
            )  # fmt: skip

    def lay(self, made: Path, name: str = "") -> Path:
        return Path(shutil.copy(made, self.folder / (name or made.name)))

    def brought(self) -> list[str]:
        return sorted(path.name for path in self.incoming.iterdir())


@pytest.fixture
def stick(tmp_path: Path, at: Bench) -> Stick:
    return Stick(tmp_path, at)


def test_the_newest_release_is_copied_but_its_installation_is_not_requested(
    stick: Stick, at: Bench
) -> None:
    for version in ("0.1.0", "0.2.0", "0.3.0", "0.4.0"):
        stick.lay(at.shop.make(version))
    assert stick.bring() == BoxSentence.of("page-look-stick-brought", versions="0.4.0")
    assert stick.brought() == ["stick-0.4.0.release"]
    record = read("stick", stick.looked)
    assert record is not None
    assert (record.phase, record.version) == ("fetches", "0.4.0")
    (offer,) = offers(at.store, stick.incoming, stick.os_release)
    request_install(offer)
    assert install_wanted(at.installer(), InstallOptions(), stick.incoming)
    assert at.store.kept() == "0.4.0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Foundry:
    return foundry(tmp_path_factory.mktemp("systems"))


def test_a_system_is_copied_only_to_a_card_with_our_image(
    stick: Stick, at: Bench, made: Foundry
) -> None:
    stick.lay(made.make("0.3.0").archive)
    assert stick.bring() == NONE, "this machine does not run our image"
    stick.os_release.write_text("IMAGE_ID=interlude\nIMAGE_VERSION=0.1.0\n")
    stick.signers.write_text(stick.signers.read_text() + made.shop.signers.read_text())
    stick.lay(at.shop.make("0.3.0"))
    assert stick.bring() == BoxSentence.of("page-look-stick-brought", versions="0.3.0")
    assert stick.brought() == ["stick-0.3.0.release", "stick-0.3.0.system"]


def test_an_empty_stick_and_one_with_older_files_bring_nothing(stick: Stick, at: Bench) -> None:
    assert stick.bring() == NONE
    stick.lay(at.shop.make("0.1.0"))
    (stick.folder / "photos.release").write_text("no release at all")
    (stick.folder / "deep").mkdir()
    shutil.copy(at.shop.make("0.3.0"), stick.folder / "deep")
    assert stick.bring() == NONE
    assert stick.brought() == []


def test_an_archive_signed_with_an_untrusted_key_is_refused(stick: Stick, at: Bench) -> None:
    stick.lay(at.shop.make("0.3.0", key=at.shop.new_key("stranger")))
    with pytest.raises(ReleaseRefused, match="not signed"):
        stick.bring()
    assert stick.brought() == []
    record = read("stick", stick.looked)
    assert record is not None
    assert (record.well, record.key) == (False, "page-wrong-unsigned")


def test_an_archive_for_another_machine_is_refused_before_it_is_copied(
    stick: Stick, at: Bench
) -> None:
    stick.lay(at.shop.make("0.3.0", machine="pdp11"))
    with pytest.raises(ReleaseRefused, match="made for pdp11"):
        stick.bring(free=0)
    assert stick.brought() == []


def test_a_damaged_archive_leaves_nothing_behind(stick: Stick, at: Bench) -> None:
    laid = stick.lay(at.shop.make("0.3.0"))
    with HandedOverFile(laid, 1 << 30) as handed:
        (tree,) = RELEASE.open(handed, stick.signers).contents
    with laid.open("r+b") as file:
        file.seek(tree[0] + tree[1] // 2)
        file.write(b"\xff" * 16)
    with pytest.raises(ReleaseRefused):
        stick.bring()
    assert stick.brought() == []


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_a_link_fifo_or_folder_is_ignored_without_blocking(
    stick: Stick, at: Bench, kind: str
) -> None:
    place = stick.folder / "new.release"
    if kind == "link":
        place.symlink_to(at.shop.make("0.3.0"))
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
    assert stick.bring() == NONE
    assert stick.brought() == []


def test_a_copy_never_writes_through_a_link_that_another_member_of_the_folder_laid(
    stick: Stick, at: Bench, tmp_path: Path
) -> None:
    stick.lay(at.shop.make("0.3.0"))
    victim, part = tmp_path / "victim", stick.incoming / ".stick-0.3.0.release.part"
    victim.write_text("kept")

    def free(folder: Path) -> int:
        part.symlink_to(victim)  # after the copies of earlier sticks were removed
        return PLENTY

    with LookReporter("stick", stick.looked).looking() as reporter, pytest.raises(StorageError):
        bring(
            stick.folder, reporter, at.store, stick.incoming, stick.os_release, stick.signers, free
        )
    assert victim.read_text() == "kept"


def test_missing_space_is_reported_before_anything_is_copied(stick: Stick, at: Bench) -> None:
    size = stick.lay(at.shop.make("0.3.0")).stat().st_size
    with pytest.raises(StorageError, match="no room"):
        stick.bring(free=size + SPARE_BYTES - 1)
    assert stick.brought() == []
    stick.bring(free=size + SPARE_BYTES)
    assert stick.brought() == ["stick-0.3.0.release"]


def test_files_of_an_earlier_stick_are_removed_first(stick: Stick, at: Bench) -> None:
    laid = stick.lay(at.shop.make("0.3.0"))
    stick.bring()
    (stick.incoming / ".stick-0.3.0.release.part").write_bytes(b"cut short")
    (stick.incoming / "pulled-0.5.0.release").write_bytes(b"of another way")
    laid.unlink()
    stick.lay(at.shop.make("0.4.0"))
    stick.bring()
    assert stick.brought() == ["pulled-0.5.0.release", "stick-0.4.0.release"]


def test_a_card_that_cannot_be_written_is_reported(stick: Stick, at: Bench) -> None:
    stick.lay(at.shop.make("0.3.0"))
    shutil.rmtree(stick.incoming)
    with pytest.raises(StorageError, match="cannot be written"):
        stick.bring()
