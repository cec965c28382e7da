"""Settings for the service: the owner's, or the last usable ones if the owner's file has an error.

At a terminal an error in the file ends the command, and the user corrects it. The service starts
all the same: with the last usable settings, or with the vendor's, and the box says so.
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

BEFORE = "settings-before.yaml"  # in the state folder: copy of the owner's last usable file

log = logging.getLogger("settings")


@dataclass(frozen=True)
class UsableSettings:
    """The settings to start with. `problem`: why they are not the owner's; "" if they are. `said`:
    key of the sentence that the box says about it. `mute`: no settings of the owner are known, so
    the microphone stays off: only they would say that there is a mute switch or push-to-talk."""

    settings: Settings
    problem: str = ""
    said: str = ""
    mute: bool = False


def usable(
    named: Path | None, state: Path, check: Callable[[Settings], object], owner: Path | None = None
) -> UsableSettings:
    """The settings of the file `named`, or else of `owner`, unless `check` raises SettingsError."""
    file = named or owner or owner_file()
    before = state / BEFORE
    try:
        settings = load(file)
        check(settings)
    except SettingsError as error:
        return _fallback(str(error), before, check)
    _save_copy(file, before)
    return UsableSettings(settings)


def _fallback(problem: str, before: Path, check: Callable[[Settings], object]) -> UsableSettings:
    if before.is_file():
        with contextlib.suppress(SettingsError):
            settings = load(before)
            check(settings)
            return UsableSettings(settings, problem, "settings-before")
    return UsableSettings(load_defaults(), problem, "settings-defaults", mute=True)


def _save_copy(file: Path | None, before: Path) -> None:
    """Copy the usable file, for a start at which it has an error. A failed write only logs a
    warning: the box starts all the same."""
    try:
        if file is None:
            before.unlink(missing_ok=True)
            return
        data = read_small(file, MOST_BYTES, links=True)
        if not before.is_file() or before.read_bytes() != data:
            write_whole(before, data, 0o600)
    except OSError as error:
        log.warning("%s: the settings in use cannot be kept (%s)", before, error.strerror)
