"""The language chosen in Home Assistant: written to the settings file and shown as written."""

from __future__ import annotations

from pathlib import Path

from appliance.mqtt.language_setting import LanguageSetting
from appliance.panel import auto_detection
from appliance.runtime.handed_changes import HandedChanges
from appliance.runtime.handed_request import RequestOutcome, tell
from appliance.runtime.settings_access import SettingsAccess
from appliance.settings.owner_settings import OwnerSettings
from appliance.settings.settings_change import REQUEST


def access(folder: Path, *, handed: bool) -> SettingsAccess:
    for name in ("wanted", "changed"):
        (folder / name).mkdir()
    owner = OwnerSettings(folder / "settings.yaml", folder / "password", auto_detection.usable)
    requests = HandedChanges(REQUEST, lambda: 0.0, folder / "wanted", folder / "changed")
    return SettingsAccess(owner, handed, requests)


def test_a_choice_is_written_into_the_owners_settings_file(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("# mine\n")
    setting = LanguageSetting(access(tmp_path, handed=False), "auto")
    assert setting.choose("de") == ""
    assert setting.look() == ""
    assert setting.shown == "de"
    assert (tmp_path / "settings.yaml").read_text() == "# mine\n\nlanguage: de\n"


def test_with_handed_changes_a_choice_is_shown_once_root_has_written_it(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    setting = LanguageSetting(changes, "auto")
    assert setting.choose("de") == ""
    assert setting.look() == ""
    assert setting.shown == "auto"
    tell(REQUEST, RequestOutcome(changes.requests.last), tmp_path / "changed")
    assert setting.look() == ""
    assert setting.shown == "de"


def test_a_refusal_by_root_is_reported_once_and_not_shown(tmp_path: Path) -> None:
    changes = access(tmp_path, handed=True)
    setting = LanguageSetting(changes, "auto")
    setting.choose("de")
    tell(REQUEST, RequestOutcome(changes.requests.last, "The card is full."), tmp_path / "changed")
    assert setting.look() == "The card is full."
    assert setting.look() == ""
    assert setting.shown == "auto"


def test_an_unknown_language_and_an_invalid_settings_file_are_reported(tmp_path: Path) -> None:
    setting = LanguageSetting(access(tmp_path, handed=False), "auto")
    assert "there is no language" in setting.choose("klingon")
    (tmp_path / "settings.yaml").write_text("link: {brocker: x}\n")
    assert "brocker" in setting.choose("de")
    assert setting.shown == "auto"
