"""What a start of the box begins with: its settings, and what its owner has to be told.

At a terminal, settings with a mistake end the command with a sentence. A service that systemd
started goes on with the settings from before (settings/usable.py), and says so aloud.
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
from appliance.settings import Settings, load
from appliance.settings.usable import UsableSettings, usable
from appliance.update.release import fallback

MUTE_S = 5.0  # for a card to say whether the microphone was off before

log = logging.getLogger("settings")


def settings_for_start(named: Path | None) -> UsableSettings:
    """What the box begins with; what it stands on has been looked up (panel/auto_detection.py).

    Raises SettingsError where nobody has to be served but who typed the command.
    """
    state = os.environ.get("STATE_DIRECTORY")
    if not state or not _on_a_box():
        settings = load(named)
        check(settings)
        return UsableSettings(auto_detection.resolve_auto(settings))
    start = usable(named, Path(state.split(":")[0]), check)
    return replace(start, settings=auto_detection.resolve_auto(start.settings))


def check(settings: Settings) -> None:
    """Whether a box can be used with them, on this machine. Raises SettingsError."""
    rows.rows_to_run(auto_detection.usable(settings))


def with_page(settings: Settings) -> Settings:
    """Likewise, with the page, whatever the file says."""
    shown = msgspec.structs.replace(settings.page, enabled=True)
    return msgspec.structs.replace(settings, page=shown)


def hand_over_file(named: Path | None, environment: MutableMapping[str, str]) -> None:
    """To the page, which may change it: the settings file that the command was given."""
    if named is not None:
        environment[settings_access.FILE] = str(named.absolute())


def report_page(settings: Settings, digits: str = "") -> None:
    """Where the page is, if there is one; and the digits that let a first browser in."""
    if settings.page.wanted:
        host, port = settings.page.address
        place = f"{socket.gethostname()}.local" if host == "0.0.0.0" else host  # noqa: S104  # shown, not listened on
        scheme, usual = ("https", 443) if settings.page.certificate else ("http", 80)
        shown = place if port == usual else f"{place}:{port}"
        told = f"; a new browser is let in by {pairing.spaced(digits)}" if digits else ""
        log.info("the page is at %s://%s%s", scheme, shown, told)


def hand_over_digits(environment: MutableMapping[str, str]) -> str:
    """To the page: digits that let in one browser, for whoever types the command. Returns them; ""
    for a service, whose log others read."""
    if environment.get("STATE_DIRECTORY") or "NOTIFY_SOCKET" in environment:
        return ""
    environment[pairing.PRINTED] = digits = pairing.draw_digits()
    return digits


def report_problem(start: UsableSettings) -> None:
    """The log at once, the owner when the box has a voice. Raises SettingsError if the microphone
    has to be off and that cannot be noted."""
    if start.problem:
        log.error("%s", start.problem)
    if start.mute:
        mute(start.settings, start.problem)
    state = start.settings.state_path()
    words = catalogue(start.settings.own_language)
    said = startup_notices.gather(
        state,
        words.say(start.said) if start.said else "",
        fallback.sentences(words=words) if _on_a_box() else (),
    )
    startup_notices.hand_over(said, os.environ)


def _on_a_box() -> bool:
    """A service; what runs in a clone is no release."""
    return "NOTIFY_SOCKET" in os.environ


def mute(settings: Settings, problem: str) -> None:
    """The microphone is off from now on, until its owner switches it on."""
    store = MuteStore.of(settings)
    known = store.stored(MUTE_S)
    if known is None or not known.muted:
        store.store(muted=True)
    store.request_stop()
    store.join()
    again = MuteStore.of(settings)
    kept = again.stored(MUTE_S)
    again.request_stop()
    again.join()
    if kept is None or not kept.muted:
        raise SettingsError(problem, "The microphone cannot be switched off meanwhile.")
