"""A part without rights asks for a release; what is asked for is taken once, and never believed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed, ReleaseRefused
from appliance.update.release.installer import InstallOptions
from appliance.update.request import (
    InstallProgress,
    install_wanted,
    offers,
    read_progress,
    request_install,
    request_return,
    returns_to,
)
from tests.update.release.workshop import Bench, PaperBox

pytestmark = pytest.mark.process


@pytest.fixture
def incoming(at: Bench, tmp_path: Path) -> Path:
    """The box runs 0.2.0; an older, a newer and a sick one lie in the incoming folder."""
    at.installer().install(at.shop.make("0.2.0"))
    folder = tmp_path / "incoming"
    folder.mkdir()
    shutil.copy(at.shop.make("0.1.0"), folder)
    shutil.copy(at.shop.make("0.3.0"), folder)
    shutil.copy(at.shop.make("0.4.0", "crashes"), folder)
    (folder / "note.release").write_text("no release at all")
    return folder


def test_only_what_is_newer_is_offered(at: Bench, incoming: Path) -> None:
    assert [offer.version for offer in offers(at.store, incoming)] == ["0.4.0", "0.3.0"]


def test_a_release_that_did_not_stay_up_is_not_offered_again_until_another_is_kept(
    at: Bench, incoming: Path
) -> None:
    note = at.store.root / "failures.json"
    note.write_text('{"version": "0.2.0", "left": "0.4.0"}')
    assert [offer.version for offer in offers(at.store, incoming)] == ["0.3.0"]
    note.write_text('{"version": "0.1.9", "left": "0.4.0"}')
    assert [offer.version for offer in offers(at.store, incoming)] == ["0.4.0", "0.3.0"]


def test_what_is_asked_for_is_installed_and_then_gone(at: Bench, incoming: Path) -> None:
    offer = offers(at.store, incoming)[1]
    request_install(offer)
    assert install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"
    assert read_progress(at.store.trial_folder) == InstallProgress("0.3.0")
    assert not offer.file.exists()
    assert not (incoming / "wanted").exists()
    assert [path.name for path in at.store.root.glob(".wanted*")] == []


def test_how_a_sick_one_ended_can_be_read(at: Bench, incoming: Path) -> None:
    request_install(offers(at.store, incoming)[0])
    with pytest.raises(HealthCheckFailed):
        install_wanted(at.installer(), InstallOptions(), incoming)
    going = read_progress(at.store.trial_folder)
    assert (going.version, going.step) == ("0.4.0", "")
    assert "back on 0.2.0" in going.problem
    assert not (incoming / "wanted").exists()


def test_while_one_is_tried_nothing_is_said_of_how_the_last_one_ended(
    at: Bench, incoming: Path
) -> None:
    sick, good = offers(at.store, incoming)
    request_install(sick)
    with pytest.raises(HealthCheckFailed):
        install_wanted(at.installer(), InstallOptions(), incoming)
    seen: list[InstallProgress] = []

    class Watched(PaperBox):
        def clock_s(self) -> float:
            seen.append(read_progress(at.store.trial_folder))
            return super().clock_s()

    at.box = Watched(at.store, runs=at.box.runs)
    request_install(good)
    assert install_wanted(at.installer(), InstallOptions(), incoming)
    assert seen
    assert all(going.version == "0.3.0" and going.step and not going.problem for going in seen)


def test_nothing_asked_is_nothing_done(at: Bench, incoming: Path) -> None:
    with pytest.raises(ReleaseRefused, match="No installation was requested"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert read_progress(at.store.trial_folder) == InstallProgress()


@pytest.mark.parametrize(
    "name", ["../0.3.0.release", "/etc/shadow", "wanted", "", "link.release", "a\0b.release"]
)
def test_a_name_that_leads_elsewhere_is_refused(at: Bench, incoming: Path, name: str) -> None:
    (incoming / "link.release").symlink_to("/etc/shadow")
    (incoming / "wanted").write_text(name)
    with pytest.raises(ReleaseRefused):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert not (incoming / "wanted").exists()
    assert at.store.kept() == "0.2.0"


def test_one_that_is_gone_by_then_is_said_so(at: Bench, incoming: Path) -> None:
    offer = offers(at.store, incoming)[0]
    request_install(offer)
    offer.file.unlink()
    with pytest.raises(ReleaseRefused, match="No such file"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert "cannot be read" in read_progress(at.store.trial_folder).problem


# ── going back
def test_the_release_before_is_gone_back_to_and_then_the_newer_one_is_the_one_before(
    at: Bench, incoming: Path
) -> None:
    at.installer().install(incoming / at.shop.make("0.3.0").name)
    for expected, before in (("0.2.0", "0.3.0"), ("0.3.0", "0.2.0")):
        assert returns_to(at.store) == expected
        request_return(incoming)
        assert install_wanted(at.installer(), InstallOptions(), incoming)
        assert (at.store.kept(), at.store.previous()) == (expected, before)
        assert read_progress(at.store.trial_folder) == InstallProgress(expected)
        assert not (incoming / "wanted").exists()


def test_where_there_is_none_before_it_stays_and_that_is_told(at: Bench, incoming: Path) -> None:
    request_return(incoming)
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.2.0"
    assert "nothing earlier" in read_progress(at.store.trial_folder).problem


def test_a_release_that_did_not_stay_up_is_not_gone_back_to(at: Bench, incoming: Path) -> None:
    at.installer().install(incoming / at.shop.make("0.3.0").name)
    note = at.store.root / "failures.json"
    note.write_text('{"version": "0.3.0", "left": "0.2.0"}')
    assert returns_to(at.store) is None
    request_return(incoming)
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"


@pytest.mark.parametrize("note", ["previous\0", "PREVIOUS", "previous.release", "../previous"])
def test_no_other_word_goes_back(at: Bench, incoming: Path, note: str) -> None:
    at.installer().install(incoming / at.shop.make("0.3.0").name)
    (incoming / "wanted").write_text(note)
    with pytest.raises(ReleaseRefused):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"
