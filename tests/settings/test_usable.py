"""With a mistake in the settings file the service starts with the last good settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.cli import rows
from appliance.settings import load_defaults
from appliance.settings.usable import BEFORE, UsableSettings, usable

GOOD = "speaking: {volume: 0.3}\n"
MISTAKES = [
    "speaking: {volme: 0.3}\n",
    "mode: [\n",
    "mode: 7\n",
    "\xff",
    "processes: {tinker: {}}\n",
]


def start(owners: Path, state: Path) -> UsableSettings:
    return usable(owners, state, rows.rows_to_run)


def test_settings_without_a_mistake_are_used_and_saved_for_later(owners: Path, state: Path) -> None:
    owners.write_text(GOOD)
    found = start(owners, state)
    assert (found.settings.speaking.volume, found.problem, found.mute) == (0.3, "", False)
    assert (state / BEFORE).read_text() == GOOD
    assert (state / BEFORE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mistake", MISTAKES)
def test_after_a_mistake_the_last_good_settings_are_used_and_reported(
    owners: Path, state: Path, mistake: str
) -> None:
    owners.write_text(GOOD)
    start(owners, state)
    owners.write_bytes(mistake.encode("latin-1"))
    for _ in range(2):
        found = start(owners, state)
        assert (found.settings.speaking.volume, found.mute) == (0.3, False)
        assert found.said == "settings-before"
        assert found.problem
    owners.write_text("speaking: {volume: 0.4}\n")
    found = start(owners, state)
    assert (found.settings.speaking.volume, found.problem, found.said) == (0.4, "", "")


@pytest.mark.parametrize(
    "saved", [None, "mode: 7\n"], ids=["none saved", "saved ones damaged, too"]
)
def test_without_any_usable_settings_the_microphone_stays_off(
    owners: Path, state: Path, saved: str | None
) -> None:
    owners.write_text("mode: 7\n")
    if saved is not None:
        (state / BEFORE).write_text(saved)
    found = start(owners, state)
    assert (found.settings, found.mute, found.said) == (load_defaults(), True, "settings-defaults")


def test_after_the_owner_removed_the_file_the_saved_copy_is_removed(
    owners: Path, state: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    (state / BEFORE).write_text(GOOD)
    found = usable(None, state, rows.rows_to_run)
    assert found.problem == ""
    assert not (state / BEFORE).exists()


def test_a_failure_to_save_the_settings_does_not_prevent_the_start(
    owners: Path, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    owners.write_text(GOOD)
    (state / f".{BEFORE}.new").mkdir()
    assert start(owners, state).settings.speaking.volume == 0.3
    assert "cannot be kept" in caplog.text
