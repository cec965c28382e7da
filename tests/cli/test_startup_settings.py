"""The start of the box: invalid settings end a command at a terminal, but a service starts and
announces them."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.atomic_file import fresh_name
from appliance.background_file import write_private
from appliance.cli import startup_settings
from appliance.dialog import mute_store, startup_notices
from appliance.errors import SettingsError
from appliance.language.catalogue import english
from appliance.page.pairing import printed_digits
from appliance.settings import load, load_defaults

GOOD = "speaking: {volume: 0.3}\n"


def test_at_a_terminal_invalid_settings_end_the_command(
    owners: Path, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    owners.write_text("mode: 7\n")
    monkeypatch.setenv("STATE_DIRECTORY", str(state))
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    with pytest.raises(SettingsError):
        startup_settings.settings_for_start(owners)
    monkeypatch.setenv("NOTIFY_SOCKET", "/nonexistent")
    assert startup_settings.settings_for_start(owners).mute


@pytest.fixture
def service(state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of a service under systemd."""
    monkeypatch.setenv("STATE_DIRECTORY", str(state))
    monkeypatch.setenv("NOTIFY_SOCKET", "/nonexistent")
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    # Set by report_problem(); restored after the test.
    monkeypatch.setenv(startup_notices.HANDED, "")
    return state


def test_without_usable_settings_the_mute_is_on_the_disk_before_any_process_starts(
    owners: Path, service: Path
) -> None:
    owners.write_text("mode: 7\n")
    startup_settings.report_problem(startup_settings.settings_for_start(owners))
    found = mute_store.read_file(service / mute_store.FILE)
    assert found is not None
    assert found.muted
    assert startup_notices.handed_over().sentences == [english().say("settings-defaults")]


def test_with_the_settings_of_the_last_start_the_mute_state_is_kept(
    owners: Path, service: Path
) -> None:
    owners.write_text(GOOD)
    startup_settings.report_problem(startup_settings.settings_for_start(owners))
    owners.write_text("mode: 7\n")
    startup_settings.report_problem(startup_settings.settings_for_start(owners))
    assert mute_store.read_file(service / mute_store.FILE) is None
    assert startup_notices.handed_over().sentences == [english().say("settings-before")]


def test_if_the_mute_cannot_be_stored_the_box_does_not_start(owners: Path, service: Path) -> None:
    owners.write_text("mode: 7\n")
    fresh_name(service / mute_store.FILE).mkdir(parents=True)
    with pytest.raises(SettingsError, match="cannot be switched off"):
        startup_settings.report_problem(startup_settings.settings_for_start(owners))


def test_settings_that_no_box_can_run_with_are_refused() -> None:
    startup_settings.check(load_defaults())
    with pytest.raises(SettingsError, match="no such process"):
        startup_settings.check(load(None, {"processes": {"tinker": {}}}))


def test_valid_settings_are_not_announced(owners: Path, service: Path) -> None:
    owners.write_text(GOOD)
    start = startup_settings.settings_for_start(owners)
    startup_settings.report_problem(start)
    assert start.settings.speaking.volume == 0.3
    assert startup_notices.handed_over().sentences == []


def test_a_settings_file_in_the_state_folder_is_ignored_and_announced_once(
    owners: Path, service: Path, caplog: pytest.LogCaptureFixture
) -> None:
    owners.write_text(GOOD)
    planted = service / ".config/interlude/settings.yaml"
    planted.parent.mkdir(parents=True)
    planted.write_text("speaking: {volume: 1.0}\n")
    start = startup_settings.settings_for_start(owners)
    startup_settings.report_problem(start)
    notices = startup_notices.handed_over()
    assert notices.sentences == [english().say("settings-ignored")]
    assert f"{planted} is ignored" in caplog.text
    write_private(service / startup_notices.TOLD, notices.once.encode())
    startup_settings.report_problem(start)
    assert startup_notices.handed_over().sentences == []


@pytest.mark.parametrize(
    ("listen", "port", "place"),
    [("", 0, "http://127.0.0.1:8080"), ("192.168.1.7", 80, "http://192.168.1.7")],
)
def test_the_address_of_the_page_is_logged_at_the_start(
    listen: str, port: int, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    settings = load(None, {"page": {"listen": listen, "port": port}})
    startup_settings.report_page(settings)
    assert caplog.text == ""
    startup_settings.report_page(startup_settings.with_page(settings))
    assert place in caplog.text


def test_at_a_terminal_the_digits_for_the_first_browser_are_printed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    environment: dict[str, str] = {}
    digits = startup_settings.hand_over_digits(environment)
    assert printed_digits(environment) == digits
    settings = startup_settings.with_page(load_defaults())
    startup_settings.report_page(settings, digits)
    assert f"is let in by {digits[:3]} {digits[3:]}" in caplog.text


@pytest.mark.parametrize("variable", ["STATE_DIRECTORY", "NOTIFY_SOCKET"])
def test_a_service_prints_no_digits(variable: str) -> None:
    environment = {variable: "/run/x"}
    assert startup_settings.hand_over_digits(environment) == ""
    assert environment == {variable: "/run/x"}
