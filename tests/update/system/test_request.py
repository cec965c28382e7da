"""A part without rights asks for a system, by the same calls as for a release."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from appliance.errors import InstallDeferred, ReleaseRefused
from appliance.update.release.installer import InstallOptions
from appliance.update.request import InstallProgress, offers, read_progress, request_install
from appliance.update.system.request import install_wanted
from image.firmware import TRYBOOT
from tests.update.system.workshop import Bench

pytestmark = pytest.mark.process


@pytest.fixture
def incoming(at: Bench, tmp_path: Path) -> Path:
    """The card runs 0.1.0; three systems and what is none lie in the incoming folder."""
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


def test_newer_systems_are_offered_on_a_card_of_ours_only(
    at: Bench, incoming: Path, tmp_path: Path
) -> None:
    found = offers(at.shelf, incoming, os_release(tmp_path))
    assert [offer.version for offer in found] == ["0.3.0", "0.2.0"]
    assert offers(at.shelf, incoming, tmp_path / "none") == []


def test_what_is_asked_for_is_written_started_and_then_gone(
    at: Bench, incoming: Path, tmp_path: Path
) -> None:
    offer = offers(at.shelf, incoming, os_release(tmp_path))[1]
    request_install(offer)
    assert (incoming / "wanted-system").is_file()
    assert not (incoming / "wanted").exists()
    assert install_wanted(at.updater(), InstallOptions(), incoming)
    assert at.machine.asked == [TRYBOOT]
    assert read_progress(at.shelf.trial_folder) == InstallProgress("0.2.0")
    assert not offer.file.exists()


def test_why_it_was_not_installed_can_be_read(at: Bench, incoming: Path, tmp_path: Path) -> None:
    request_install(offers(at.shelf, incoming, os_release(tmp_path))[0])
    at.machine.quiet_at_s = 1e9
    with pytest.raises(InstallDeferred):
        install_wanted(at.updater(), InstallOptions(wait_s=1.0), incoming)
    assert "Somebody talks" in read_progress(at.shelf.trial_folder).problem
    with pytest.raises(ReleaseRefused, match="Nobody asked"):
        install_wanted(at.updater(), InstallOptions(), incoming)


@pytest.mark.parametrize("name", ["../x.system", "note.release", "gone.txt", ""])
def test_a_request_for_something_else_is_refused(at: Bench, incoming: Path, name: str) -> None:
    (incoming / "wanted-system").write_text(name)
    with pytest.raises(ReleaseRefused):
        install_wanted(at.updater(), InstallOptions(), incoming)
