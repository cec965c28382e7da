"""A process without rights requests a system with the same calls as a release."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed, InstallDeferred, ReleaseRefused
from appliance.update.release.installer import InstallOptions
from appliance.update.request import (
    SYSTEMS,
    InstallProgress,
    offers,
    read_progress,
    request_install,
    request_return,
)
from appliance.update.system.request import install_wanted, returns_to
from image.firmware import TRYBOOT
from tests.update.system.workshop import Bench

pytestmark = pytest.mark.process


@pytest.fixture
def incoming(at: Bench, tmp_path: Path) -> Path:
    """The card runs 0.1.0. The incoming folder holds three systems and a file that is none."""
    folder = tmp_path / "incoming"
    folder.mkdir()
    for version in ("0.0.9", "0.2.0", "0.3.0"):
        shutil.copy(at.archive(version), folder)
    (folder / "note.system").write_text("no system at all")
    return folder


def os_release(folder: Path, version: str = "0.1.0") -> Path:
    path = folder / "os-release"
    path.write_text(f"IMAGE_ID=interlude\nIMAGE_VERSION={version}\n")
    return path


def test_newer_systems_are_offered_only_on_a_card_with_our_image(
    at: Bench, incoming: Path, tmp_path: Path
) -> None:
    found = offers(at.store, incoming, os_release(tmp_path))
    assert [offer.version for offer in found] == ["0.3.0", "0.2.0"]
    assert offers(at.store, incoming, tmp_path / "none") == []


def test_a_requested_system_is_written_started_and_then_removed(
    at: Bench, incoming: Path, tmp_path: Path
) -> None:
    offer = offers(at.store, incoming, os_release(tmp_path))[1]
    request_install(offer)
    assert (incoming / "wanted-system").is_file()
    assert not (incoming / "wanted").exists()
    assert install_wanted(at.updater(), InstallOptions(), incoming)
    assert at.machine.asked == [TRYBOOT]
    assert read_progress(at.store.trial_folder) == InstallProgress("0.2.0")
    assert not offer.file.exists()


def test_the_reason_for_a_deferred_installation_can_be_read(
    at: Bench, incoming: Path, tmp_path: Path
) -> None:
    request_install(offers(at.store, incoming, os_release(tmp_path))[0])
    at.machine.quiet_at_s = 1e9
    with pytest.raises(InstallDeferred):
        install_wanted(at.updater(), InstallOptions(wait_s=1.0), incoming)
    assert "A conversation is under way" in read_progress(at.store.trial_folder).problem
    with pytest.raises(ReleaseRefused, match="No installation was requested"):
        install_wanted(at.updater(), InstallOptions(), incoming)


def settled(at: Bench, version: str) -> None:
    """Install the system, start it and pass its trial."""
    assert at.updater().install(at.archive(version))
    at.machine.power(TRYBOOT)
    at.updater().settle_trial()
    at.machine.power()
    at.updater().settle_trial()


def test_a_return_to_the_previous_system_can_be_undone(at: Bench, incoming: Path) -> None:
    at.updater().settle_trial()  # records the system that came with the card
    settled(at, "0.2.0")
    for version in ("0.1.0", "0.2.0"):
        assert returns_to(at.slot_state, at.machine.slot(), at.store.root) == version
        request_return(incoming, SYSTEMS)
        assert install_wanted(at.updater(), InstallOptions(), incoming)
        assert at.machine.asked == [TRYBOOT]
        assert returns_to(at.slot_state, at.machine.slot(), at.store.root) is None, "on trial"
        at.machine.power(TRYBOOT)
        assert "is kept" in at.updater().settle_trial()
        assert at.version_that_starts() == version
        assert at.updater().settle_trial() == ""


def test_a_system_without_a_passed_trial_cannot_be_returned_to(at: Bench, incoming: Path) -> None:
    at.updater().settle_trial()
    request_return(incoming, SYSTEMS)
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        install_wanted(at.updater(), InstallOptions(), incoming)
    at.updater().install(at.archive("0.2.0"), InstallOptions(start=False))
    assert at.slot_state.content("b") is not None
    request_return(incoming, SYSTEMS)
    with pytest.raises(ReleaseRefused, match="nothing earlier"):
        install_wanted(at.updater(), InstallOptions(), incoming)
    assert at.machine.asked == []
    progress = read_progress(at.store.trial_folder)
    assert progress.key == "page-wrong-nothing-before"


def test_a_system_that_failed_when_returned_to_is_not_offered_again(
    at: Bench, incoming: Path
) -> None:
    at.updater().settle_trial()
    settled(at, "0.2.0")
    at.machine.kinds["0.1.0"] = "crashes"
    request_return(incoming, SYSTEMS)
    install_wanted(at.updater(), InstallOptions(), incoming)
    at.machine.power(TRYBOOT)
    with pytest.raises(HealthCheckFailed):
        at.updater().settle_trial()
    assert at.version_that_starts() == "0.2.0"
    assert "ended by itself" in at.updater().settle_trial()
    assert returns_to(at.slot_state, at.machine.slot(), at.store.root) is None
    last = at.slot_state.last()
    assert last is not None
    assert (last.version, last.key) == ("0.1.0", "page-wrong-system-unwell")


def test_a_system_that_did_not_stay_up_cannot_be_returned_to(at: Bench) -> None:
    at.updater().settle_trial()
    settled(at, "0.2.0")
    (at.store.root / "failures.json").write_text('{"system_left": "0.1.0"}')
    assert returns_to(at.slot_state, at.machine.slot(), at.store.root) is None


def test_with_a_kernel_that_cannot_request_a_trial_nothing_is_started(
    at: Bench, incoming: Path
) -> None:
    at.updater().settle_trial()
    settled(at, "0.2.0")
    at.machine.loses_restart_words = True
    request_return(incoming, SYSTEMS)
    with pytest.raises(ReleaseRefused, match="cannot ask"):
        install_wanted(at.updater(), InstallOptions(), incoming)
    assert (at.machine.asked, at.slot_state.trial()) == ([], None)


def test_without_slots_there_is_no_system_to_return_to(at: Bench) -> None:
    assert returns_to(at.slot_state, None, at.store.root) is None


@pytest.mark.parametrize("name", ["../x.system", "note.release", "gone.txt", ""])
def test_a_request_for_something_else_is_refused(at: Bench, incoming: Path, name: str) -> None:
    (incoming / "wanted-system").write_text(name)
    with pytest.raises(ReleaseRefused):
        install_wanted(at.updater(), InstallOptions(), incoming)
