"""Settings for the service: the owner's, or what was in use before a mistake was made in them.

A person at a terminal is told of the mistake and tries again. A service has nobody there: it
starts with the settings that it had, or with the vendor's, and says so.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.atomic_file import read_small, write_whole
from appliance.errors import SettingsError
from appliance.settings.loading import MOST_BYTES, load, load_defaults
from appliance.settings.whole import Settings, owner_file

BEFORE = "settings-before.yaml"  # in the state's folder: the owner's file as it was last usable

log = logging.getLogger("settings")


@dataclass(frozen=True)
class UsableSettings:
    """What to start with. `problem`: why it is not the owner's file; "" if it is. `said`: the
    key of that in the catalogue of sentences. `mute`: no owner's settings are known, so the
    microphone stays off: whoever wired a mute switch, or wanted a button to talk, said so there."""

    settings: Settings
    problem: str = ""
    said: str = ""
    mute: bool = False


def usable(
    named: Path | None, state: Path, check: Callable[[Settings], object], owner: Path | None = None
) -> UsableSettings:
    """The settings of the file `named`, or of the `owner`'s, if `check` raises no SettingsError."""
    file = named or owner or owner_file()
    before = state / BEFORE
    try:
        settings = load(file)
        check(settings)
    except SettingsError as error:
        return _without(str(error), before, check)
    _keep(file, before)
    return UsableSettings(settings)


def _without(problem: str, before: Path, check: Callable[[Settings], object]) -> UsableSettings:
    if before.is_file():
        with contextlib.suppress(SettingsError):
            settings = load(before)
            check(settings)
            return UsableSettings(settings, problem, "settings-before")
    return UsableSettings(load_defaults(), problem, "settings-defaults", mute=True)


def _keep(file: Path | None, before: Path) -> None:
    """For the day on which it cannot be used any more. A card that cannot be written is no reason
    not to start."""
    try:
        if file is None:
            before.unlink(missing_ok=True)
            return
        data = read_small(file, MOST_BYTES, links=True)
        if not before.is_file() or before.read_bytes() != data:
            write_whole(before, data, 0o600)
    except OSError as error:
        log.warning("%s: the settings in use cannot be kept (%s)", before, error.strerror)
