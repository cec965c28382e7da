"""Changes the owner's settings for a part: through a unit of root, or in the file itself.

On a box root owns the file, and the part checks a change and requests it from that unit; in a clone
the file belongs to the user who runs the box. Nothing here blocks.
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

FILE = "INTERLUDE_OWNER_FILE"  # environment variable: the settings file of this start of the box
SECRET = "mqtt-password"  # noqa: S105  # a file's name


@dataclass
class SettingsAccess:
    """Access of one process. `owner`: the file. `handed`: root owns it, and a change goes through
    `requests`; else it is made at once."""

    owner: OwnerSettings
    handed: bool
    requests: HandedChanges

    def submit(self, change: SettingsChange) -> None:
        """Make or request a change. Raises InterludeError if the check finds that it cannot be
        made."""
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


def owner_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The settings file of this start of the box, which need not exist."""
    named = environment.get(FILE, "")
    service = bool(environment.get("STATE_DIRECTORY"))
    return Path(named) if named else SYSTEM_FILE if service else owner_file() or user_file()


def settings_access(
    now_s: Callable[[], float],
    check: Callable[[Settings], object],
    environment: Mapping[str, str] = os.environ,
) -> SettingsAccess:
    """The access of this process. `check`: raises SettingsError for settings that a box cannot
    use."""
    path = owner_path(environment)
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
