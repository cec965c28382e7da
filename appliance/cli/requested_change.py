"""`interlude system change`: as root, what a part of the box has asked to be changed.

In: one record in a folder in memory (runtime/handed_request.py), which is taken away whatever is in
it. Out: the owner's settings file, and what came of it where the page may read it. Everything is
checked again: who asks has no rights.
"""

from __future__ import annotations

import pwd
from collections.abc import Callable
from pathlib import Path

from appliance.cli import startup_settings
from appliance.errors import InterludeError
from appliance.mqtt import broker
from appliance.runtime import handed_request
from appliance.runtime.handed_request import CHANGED, WANTED, RequestOutcome
from appliance.settings import SYSTEM_FILE, Settings
from appliance.settings.owner_settings import OwnerSettings
from appliance.settings.settings_change import REQUEST, SettingsChange

USER = "interlude"  # whose requests are heard


def cli_change(
    path: Path = SYSTEM_FILE,
    secret: Path = broker.SECRET,
    *,
    wanted: Path = WANTED,
    changed: Path = CHANGED,
    user: int | None = None,
    check: Callable[[Settings], object] = startup_settings.check,
) -> int:
    """Carry out what was asked for. Raises StorageError where that cannot even be told."""
    asker = pwd.getpwnam(USER).pw_uid if user is None else user
    change = handed_request.pop(REQUEST, SettingsChange, asker, wanted)
    if change is None:
        print("<4>nothing that could be done was asked for")  # a warning: sd-daemon(3)
        return 0
    try:
        OwnerSettings(path, secret, check).change(change)
    except InterludeError as error:
        print(f"<4>not changed: {error}")
        told = RequestOutcome(change.id, error.problem, error.remedy)
    else:
        print(f"changed: {', '.join(sorted(_named(change)))}")
        told = RequestOutcome(change.id)
    handed_request.tell(REQUEST, told, changed)
    return 0


def _named(change: SettingsChange) -> list[str]:
    """Keys, without a value: the log is no place for them."""
    return [*change.values, *(["password"] * bool(change.secret)), *(["undone"] * change.undo)]
