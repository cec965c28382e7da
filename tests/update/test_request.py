"""A process without rights requests a release. A request is taken once and never trusted."""

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
    """The box runs 0.2.0. The incoming folder holds an older, a newer and an unhealthy release."""
    at.installer().install(at.shop.make("0.2.0"))
    folder = tmp_path / "incoming"
    folder.mkdir()
    shutil.copy(at.shop.make("0.1.0"), folder)
    shutil.copy(at.shop.make("0.3.0"), folder)
    shutil.copy(at.shop.make("0.4.0", "crashes"), folder)
    (folder / "note.release").write_text("no release at all")
    return folder


def test_only_newer_releases_are_offered(at: Bench, incoming: Path) -> None:
    assert [offer.version for offer in offers(at.store, incoming)] == ["0.4.0", "0.3.0"]


def test_an_abandoned_release_is_offered_again_only_when_another_one_is_kept(
    at: Bench, incoming: Path
) -> None:
    note = at.store.root / "failures.json"
    note.write_text('{"version": "0.2.0", "left": "0.4.0"}')
    assert [offer.version for offer in offers(at.store, incoming)] == ["0.3.0"]
    note.write_text('{"version": "0.1.9", "left": "0.4.0"}')
    assert [offer.version for offer in offers(at.store, incoming)] == ["0.4.0", "0.3.0"]


def test_a_requested_release_is_installed_and_then_removed(at: Bench, incoming: Path) -> None:
    offer = offers(at.store, incoming)[1]
    request_install(offer)
    assert install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"
    assert read_progress(at.store.trial_folder) == InstallProgress("0.3.0")
    assert not offer.file.exists()
    assert not (incoming / "wanted").exists()
    assert [path.name for path in at.store.root.glob(".wanted*")] == []


def test_the_result_of_an_unhealthy_release_can_be_read(at: Bench, incoming: Path) -> None:
    request_install(offers(at.store, incoming)[0])
    with pytest.raises(HealthCheckFailed):
        install_wanted(at.installer(), InstallOptions(), incoming)
    progress = read_progress(at.store.trial_folder)
    assert (progress.version, progress.step) == ("0.4.0", "")
    assert "back on 0.2.0" in progress.problem
    assert not (incoming / "wanted").exists()


def test_the_result_of_the_last_installation_is_not_shown_during_the_next_one(
    at: Bench, incoming: Path
) -> None:
    failing, good = offers(at.store, incoming)
    request_install(failing)
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
    assert all(
        progress.version == "0.3.0" and progress.step and not progress.problem for progress in seen
    )


def test_without_a_request_nothing_is_installed(at: Bench, incoming: Path) -> None:
    with pytest.raises(ReleaseRefused, match="No installation was requested"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert read_progress(at.store.trial_folder) == InstallProgress()


@pytest.mark.parametrize(
    "name", ["../0.3.0.release", "/etc/shadow", "wanted", "", "link.release", "a\0b.release"]
)
def test_a_request_for_a_path_outside_the_folder_is_refused(
    at: Bench, incoming: Path, name: str
) -> None:
    (incoming / "link.release").symlink_to("/etc/shadow")
    (incoming / "wanted").write_text(name)
    with pytest.raises(ReleaseRefused):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert not (incoming / "wanted").exists()
    assert at.store.kept() == "0.2.0"


def test_a_file_that_disappeared_after_the_request_is_reported(at: Bench, incoming: Path) -> None:
    offer = offers(at.store, incoming)[0]
    request_install(offer)
    offer.file.unlink()
    with pytest.raises(ReleaseRefused, match="No such file"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert "cannot be read" in read_progress(at.store.trial_folder).problem


# ── returning to the previous release
def test_a_return_to_the_previous_release_can_be_undone(at: Bench, incoming: Path) -> None:
    at.installer().install(incoming / at.shop.make("0.3.0").name)
    for expected, before in (("0.2.0", "0.3.0"), ("0.3.0", "0.2.0")):
        assert returns_to(at.store) == expected
        request_return(incoming)
        assert install_wanted(at.installer(), InstallOptions(), incoming)
        assert (at.store.kept(), at.store.previous()) == (expected, before)
        assert read_progress(at.store.trial_folder) == InstallProgress(expected)
        assert not (incoming / "wanted").exists()


def test_a_return_without_a_previous_release_is_refused_and_reported(
    at: Bench, incoming: Path
) -> None:
    request_return(incoming)
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.2.0"
    assert "nothing earlier" in read_progress(at.store.trial_folder).problem


def test_a_release_that_did_not_stay_up_cannot_be_returned_to(at: Bench, incoming: Path) -> None:
    at.installer().install(incoming / at.shop.make("0.3.0").name)
    note = at.store.root / "failures.json"
    note.write_text('{"version": "0.3.0", "left": "0.2.0"}')
    assert returns_to(at.store) is None
    request_return(incoming)
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"


@pytest.mark.parametrize("note", ["previous\0", "PREVIOUS", "previous.release", "../previous"])
def test_only_the_exact_note_requests_a_return(at: Bench, incoming: Path, note: str) -> None:
    at.installer().install(incoming / at.shop.make("0.3.0").name)
    (incoming / "wanted").write_text(note)
    with pytest.raises(ReleaseRefused):
        install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"
