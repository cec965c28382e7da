"""A settings change is written directly in a clone, and requested from root on a box."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import NotAllowed, SettingsError, StorageError
from appliance.panel import auto_detection
from appliance.runtime.handed_changes import HandedChanges
from appliance.runtime.handed_request import RequestOutcome, tell
from appliance.runtime.settings_access import FILE, SettingsAccess, settings_access
from appliance.settings import SYSTEM_FILE
from appliance.settings.owner_settings import OwnerSettings, fingerprint
from appliance.settings.section import Scalar
from appliance.settings.settings_change import REQUEST, SettingsChange

ID = "0123456789abcdef"


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def access(folder: Path, *, handed: bool, clock: Clock | None = None) -> SettingsAccess:
    owner = OwnerSettings(folder / "settings.yaml", folder / "password", auto_detection.usable)
    for name in ("wanted", "changed"):
        (folder / name).mkdir(exist_ok=True)
    requests = HandedChanges(REQUEST, clock or Clock(), folder / "wanted", folder / "changed")
    return SettingsAccess(owner, handed, requests)


def change(values: dict[str, Scalar], secret: str = "") -> SettingsChange:
    return SettingsChange(ID, fingerprint(""), values, secret)


def test_in_a_clone_a_change_is_written_to_the_file(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=False)
    assert changes.requests.progress() == ("", "")
    changes.submit(change({"language": "de"}))
    assert changes.requests.progress() == ("done", "")
    assert changes.owner.settings().language == "de"


def test_on_a_box_a_change_is_requested_and_its_outcome_awaited(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    changes.submit(change({"language": "de"}, "horse"))
    assert not changes.owner.path.exists()
    request = tmp_path / "wanted" / REQUEST
    assert request.stat().st_mode & 0o777 == 0o600
    assert changes.requests.progress() == ("awaited", "")
    tell(REQUEST, RequestOutcome("f" * 16), tmp_path / "changed")  # the outcome of another request
    assert changes.requests.progress() == ("awaited", "")
    tell(REQUEST, RequestOutcome(ID), tmp_path / "changed")
    assert changes.requests.progress() == ("done", "")


def test_a_refusal_by_root_is_reported(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    changes.submit(change({"language": "de"}))
    tell(REQUEST, RequestOutcome(ID, "No.", "Ask again."), tmp_path / "changed")
    assert changes.requests.progress() == ("failed", "No. Ask again.")


def test_a_request_without_an_outcome_fails_after_a_timeout(tmp_path: Path) -> None:
    clock = Clock()
    changes = access(tmp_path, handed=True, clock=clock)
    changes.submit(change({"language": "de"}))
    clock.now_s += 61
    assert changes.requests.progress() == ("failed", "")


def test_a_second_change_is_refused_until_the_first_is_taken(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    changes.submit(change({"language": "de"}))
    with pytest.raises(NotAllowed, match="Another change"):
        changes.submit(change({"language": "fr"}))
    (tmp_path / "wanted" / REQUEST).unlink()
    changes.submit(change({"language": "fr"}))


@pytest.mark.parametrize("handed", [True, False])
def test_an_invalid_change_is_refused_before_it_is_requested(tmp_path: Path, handed: bool) -> None:
    changes = access(tmp_path, handed=handed)
    with pytest.raises(SettingsError):
        changes.submit(change({"language": "klingon"}))
    with pytest.raises(SettingsError):
        changes.submit(change({"page.unmute": True}))
    assert list((tmp_path / "wanted").iterdir()) == []
    assert changes.requests.progress() == ("", "")


def test_without_a_request_folder_a_change_raises_an_error(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    (tmp_path / "wanted").rmdir()
    with pytest.raises(StorageError, match="The system service"):
        changes.submit(change({"language": "de"}))


def test_a_service_requests_changes_from_root_and_a_clone_writes_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    of_box = settings_access(
        Clock(), auto_detection.usable, {"STATE_DIRECTORY": "/var/lib/interlude"}
    )
    assert (of_box.handed, of_box.owner.path) == (True, SYSTEM_FILE)
    assert of_box.owner.secret == Path("/etc/interlude/secrets/mqtt-password")
    credentials = {"STATE_DIRECTORY": "/var/lib/interlude", "CREDENTIALS_DIRECTORY": "/run/given"}
    given = settings_access(Clock(), auto_detection.usable, credentials).owner.given
    assert (of_box.owner.given, given) == (None, Path("/run/given/mqtt-password"))
    of_clone = settings_access(Clock(), auto_detection.usable, {})
    assert not of_clone.handed
    named = settings_access(Clock(), auto_detection.usable, {FILE: str(tmp_path / "mine.yaml")})
    assert (named.handed, named.owner.path) == (False, tmp_path / "mine.yaml")
    assert named.owner.named


def test_a_symlinked_settings_file_is_changed_at_its_target(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles/settings.yaml"
    real.write_text("# mine\n")
    link = tmp_path / "settings.yaml"
    link.symlink_to(real)
    changes = settings_access(Clock(), auto_detection.usable, {FILE: str(link)})
    base = fingerprint("# mine\n")
    changes.submit(SettingsChange(ID, base, {"language": "de"}))
    assert link.is_symlink()
    assert real.read_text() == "# mine\n\nlanguage: de\n"
