"""How a part of the box has the owner's settings changed: by root, or in the file itself.

On a box the file is root's, and the part only hands a change over that it has checked; in a clone
the file belongs to whoever runs the box. Nothing here waits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import InterludeError
from appliance.runtime.handed_changes import HandedChanges
from appliance.settings import SYSTEM_FILE, Settings, owner_file, user_file
from appliance.settings.owner_settings import OwnerSettings
from appliance.settings.settings_change import REQUEST, SettingsChange

FILE = "INTERLUDE_OWNER_FILE"  # environment: the settings file that the box was started with
SECRET = "mqtt-password"  # noqa: S105  # a file's name


@dataclass
class SettingsAccess:
    """`owner`: the file. `requests`: to root, which has the rights to it where it is `handed`."""

    owner: OwnerSettings
    handed: bool
    requests: HandedChanges

    def submit(self, change: SettingsChange) -> None:
        """Have it made. Raises InterludeError where it is known at once that it cannot be."""
        self.owner.check_change(change)
        if self.handed:
            self.requests.ask(change)
        else:
            self.owner.change(change)
            self.requests.made(change)

    def can_undo(self) -> bool:
        try:
            return self.owner.can_undo()
        except InterludeError:
            return False


def settings_access(
    now_s: Callable[[], float],
    check: Callable[[Settings], object],
    environment: Mapping[str, str] = os.environ,
) -> SettingsAccess:
    """Of this process. `check`: raises SettingsError for settings that a box cannot use."""
    named = environment.get(FILE, "")
    service = bool(environment.get("STATE_DIRECTORY"))
    path = Path(named) if named else SYSTEM_FILE if service else owner_file() or user_file()
    handed = path == SYSTEM_FILE
    folder = path.parent / "secrets" if handed else path.resolve().parent
    given = environment.get("CREDENTIALS_DIRECTORY", "") if handed else ""
    owner = OwnerSettings(
        path if handed else path.resolve(),
        folder / SECRET,
        check,
        named=not handed,
        given=Path(given) / SECRET if given else None,
    )
    return SettingsAccess(owner, handed, HandedChanges(REQUEST, now_s))
