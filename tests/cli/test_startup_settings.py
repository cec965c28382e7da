"""A start of the box: at a terminal a mistake ends it, as a service it goes on and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.cli import startup_settings
from appliance.dialog import mute_store, startup_notices
from appliance.errors import SettingsError
from appliance.language.catalogue import english
from appliance.page.pairing import printed_digits
from appliance.settings import load, load_defaults

GOOD = "speaking: {volume: 0.3}\n"


def test_at_a_terminal_a_mistake_ends_the_command(
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
    """The environment of a service of systemd's."""
    monkeypatch.setenv("STATE_DIRECTORY", str(state))
    monkeypatch.setenv("NOTIFY_SOCKET", "/nonexistent")
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setenv(startup_notices.HANDED, "")  # set by `tell`; taken back after the test
    return state


def test_without_any_settings_the_mute_is_on_the_disk_before_a_part_runs(
    owners: Path, service: Path
) -> None:
    owners.write_text("mode: 7\n")
    startup_settings.report_problem(startup_settings.settings_for_start(owners))
    found = mute_store.read_file(service / mute_store.FILE)
    assert found is not None
    assert found.muted
    assert startup_notices.handed_over().sentences == [english().say("settings-defaults")]


def test_with_settings_from_before_the_mute_is_as_it_was(owners: Path, service: Path) -> None:
    owners.write_text(GOOD)
    startup_settings.report_problem(startup_settings.settings_for_start(owners))
    owners.write_text("mode: 7\n")
    startup_settings.report_problem(startup_settings.settings_for_start(owners))
    assert mute_store.read_file(service / mute_store.FILE) is None
    assert startup_notices.handed_over().sentences == [english().say("settings-before")]


def test_a_microphone_that_cannot_be_kept_off_is_no_microphone(owners: Path, service: Path) -> None:
    owners.write_text("mode: 7\n")
    (service / f".{mute_store.FILE}.new").mkdir()
    with pytest.raises(SettingsError, match="cannot be switched off"):
        startup_settings.report_problem(startup_settings.settings_for_start(owners))


def test_settings_that_no_box_can_run_with_are_refused() -> None:
    startup_settings.check(load_defaults())
    with pytest.raises(SettingsError, match="no such process"):
        startup_settings.check(load(None, {"processes": {"tinker": {}}}))


def test_what_has_no_mistake_is_told_to_nobody(owners: Path, service: Path) -> None:
    owners.write_text(GOOD)
    start = startup_settings.settings_for_start(owners)
    startup_settings.report_problem(start)
    assert start.settings.speaking.volume == 0.3
    assert startup_notices.handed_over().sentences == []


@pytest.mark.parametrize(
    ("listen", "port", "place"),
    [("", 0, "http://127.0.0.1:8080"), ("192.168.1.7", 80, "http://192.168.1.7")],
)
def test_a_start_says_where_its_page_is(
    listen: str, port: int, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    settings = load(None, {"page": {"listen": listen, "port": port}})
    startup_settings.report_page(settings)
    assert caplog.text == ""
    startup_settings.report_page(startup_settings.with_page(settings))
    assert place in caplog.text


def test_who_types_the_command_gets_digits_for_a_first_browser(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    environment: dict[str, str] = {}
    digits = startup_settings.hand_over_digits(environment)
    assert printed_digits(environment) == digits
    settings = startup_settings.with_page(load_defaults())
    startup_settings.report_page(settings, digits)
    assert f"is let in by {digits[:3]} {digits[3:]}" in caplog.text


@pytest.mark.parametrize("one", ["STATE_DIRECTORY", "NOTIFY_SOCKET"])
def test_a_service_prints_no_digits(one: str) -> None:
    environment = {one: "/run/x"}
    assert startup_settings.hand_over_digits(environment) == ""
    assert environment == {one: "/run/x"}
