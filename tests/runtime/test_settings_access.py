"""A change is written where the file is one's own, and handed over where it is root's."""

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


def test_the_file_of_a_clone_is_written(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=False)
    assert changes.requests.standing() == ("", "")
    changes.submit(change({"language": "de"}))
    assert changes.requests.standing() == ("done", "")
    assert changes.owner.settings().language == "de"


def test_a_box_hands_the_change_over_and_waits_for_what_comes_of_it(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    changes.submit(change({"language": "de"}, "horse"))
    assert not changes.owner.path.exists()
    request = tmp_path / "wanted" / REQUEST
    assert request.stat().st_mode & 0o777 == 0o600
    assert changes.requests.standing() == ("awaited", "")
    tell(REQUEST, RequestOutcome("f" * 16), tmp_path / "changed")  # another's
    assert changes.requests.standing() == ("awaited", "")
    tell(REQUEST, RequestOutcome(ID), tmp_path / "changed")
    assert changes.requests.standing() == ("done", "")


def test_what_root_refuses_is_told(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    changes.submit(change({"language": "de"}))
    tell(REQUEST, RequestOutcome(ID, "No.", "Ask again."), tmp_path / "changed")
    assert changes.requests.standing() == ("failed", "No. Ask again.")


def test_a_unit_that_never_comes_is_not_waited_for_without_end(tmp_path: Path) -> None:
    clock = Clock()
    changes = access(tmp_path, handed=True, clock=clock)
    changes.submit(change({"language": "de"}))
    clock.now_s += 61
    assert changes.requests.standing() == ("failed", "")


def test_a_second_change_waits_for_the_first_to_be_taken(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    changes.submit(change({"language": "de"}))
    with pytest.raises(NotAllowed, match="Another change"):
        changes.submit(change({"language": "fr"}))
    (tmp_path / "wanted" / REQUEST).unlink()
    changes.submit(change({"language": "fr"}))


@pytest.mark.parametrize("handed", [True, False])
def test_a_bad_change_is_refused_before_it_is_handed_over(tmp_path: Path, handed: bool) -> None:
    changes = access(tmp_path, handed=handed)
    with pytest.raises(SettingsError):
        changes.submit(change({"language": "klingon"}))
    with pytest.raises(SettingsError):
        changes.submit(change({"page.unmute": True}))
    assert list((tmp_path / "wanted").iterdir()) == []
    assert changes.requests.standing() == ("", "")


def test_where_nobody_can_be_asked_it_is_said(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    (tmp_path / "wanted").rmdir()
    with pytest.raises(StorageError, match="The system service"):
        changes.submit(change({"language": "de"}))


def test_a_service_asks_root_and_a_clone_writes_its_own_file(
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


def test_a_file_that_is_a_link_is_changed_where_it_lies(tmp_path: Path) -> None:
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
