"""Settings for a start of the box, and the announcement of a problem with them.

At a terminal, an error in the settings ends the command with a sentence. A service that systemd
starts uses the last usable settings instead (settings/usable.py), and the box announces that.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import MutableMapping
from dataclasses import replace
from pathlib import Path

import msgspec

from appliance.cli import rows
from appliance.dialog import startup_notices
from appliance.dialog.mute_store import MuteStore
from appliance.errors import SettingsError
from appliance.language.catalogue import catalogue
from appliance.page import pairing
from appliance.panel import auto_detection
from appliance.runtime import settings_access
from appliance.settings import SYSTEM_FILE, Settings, ignored_file, load
from appliance.settings.usable import UsableSettings, usable
from appliance.update.release import fallback

MUTE_S = 5.0  # timeout for reading from the SD card whether the microphone was off

log = logging.getLogger("settings")


def settings_for_start(named: Path | None) -> UsableSettings:
    """The settings to start with; `auto` is replaced by detection (panel/auto_detection.py).

    Outside a service, raises SettingsError for settings that cannot be used.
    """
    state = os.environ.get("STATE_DIRECTORY")
    if not state or not _on_a_box():
        settings = load(named)
        check(settings)
        return UsableSettings(auto_detection.resolve_auto(settings))
    start = usable(named, Path(state.split(":")[0]), check)
    return replace(start, settings=auto_detection.resolve_auto(start.settings))


def check(settings: Settings) -> None:
    """Raise SettingsError if a box on this machine cannot be used with these settings."""
    rows.rows_to_run(auto_detection.usable(settings))


def with_page(settings: Settings) -> Settings:
    """The settings with the page enabled, whatever the file says."""
    shown = msgspec.structs.replace(settings.page, enabled=True)
    return msgspec.structs.replace(settings, page=shown)


def hand_over_file(named: Path | None, environment: MutableMapping[str, str]) -> None:
    """Pass the path of the command's settings file to the page, which may change that file."""
    if named is not None:
        environment[settings_access.FILE] = str(named.absolute())


def report_page(settings: Settings, digits: str = "") -> None:
    """Log the page's address, if it is enabled, and the digits that let a first browser in."""
    if settings.page.wanted:
        host, port = settings.page.address
        place = f"{socket.gethostname()}.local" if host == "0.0.0.0" else host  # noqa: S104  # shown, not listened on
        scheme, default_port = ("https", 443) if settings.page.certificate else ("http", 80)
        address = place if port == default_port else f"{place}:{port}"
        digits_text = f"; a new browser is let in by {pairing.spaced(digits)}" if digits else ""
        log.info("the page is at %s://%s%s", scheme, address, digits_text)


def hand_over_digits(environment: MutableMapping[str, str]) -> str:
    """Draw digits that let in one browser, pass them to the page, and return them for printing.

    A service gets "", since other users may read its log.
    """
    if environment.get("STATE_DIRECTORY") or "NOTIFY_SOCKET" in environment:
        return ""
    environment[pairing.PRINTED] = digits = pairing.draw_digits()
    return digits


def report_problem(start: UsableSettings) -> None:
    """Log a problem with the settings files, and leave it for the conductor to announce.

    Raises SettingsError if the microphone has to be off and that cannot be stored.
    """
    if start.problem:
        log.error("%s", start.problem)
    if start.mute:
        mute(start.settings, start.problem)
    state = start.settings.state_path()
    sentences = catalogue(start.settings.own_language)
    once = fallback.sentences(words=sentences) if _on_a_box() else []
    if file := ignored_file():
        log.warning("%s is ignored: only %s counts on a box", file, SYSTEM_FILE)
        once.append(sentences.say("settings-ignored"))
    problem = sentences.say(start.said) if start.said else ""
    notices = startup_notices.gather(state, problem, once)
    startup_notices.hand_over(notices, os.environ)


def _on_a_box() -> bool:
    """Whether this is a service: a checkout has no releases to report."""
    return "NOTIFY_SOCKET" in os.environ


def mute(settings: Settings, problem: str) -> None:
    """Store that the microphone is off until the owner switches it on. Raises SettingsError."""
    store = MuteStore.of(settings)
    stored = store.stored(MUTE_S)
    if stored is None or not stored.muted:
        store.store(muted=True)
    store.request_stop()
    store.join()
    reopened = MuteStore.of(settings)
    saved = reopened.stored(MUTE_S)
    reopened.request_stop()
    reopened.join()
    if saved is None or not saved.muted:
        raise SettingsError(problem, "The microphone cannot be switched off meanwhile.")
