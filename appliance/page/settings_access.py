"""How the page has the owner's settings changed: by root, which is asked, or in the file itself.

On a box the file is root's, and the page only hands a change over that it has checked; in a clone
the file belongs to whoever runs the box. Nothing here waits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from appliance.errors import InterludeError
from appliance.panel import auto_detection
from appliance.runtime import handed_request
from appliance.runtime.handed_request import CHANGED, WANTED, RequestOutcome
from appliance.settings import SYSTEM_FILE, owner_file, user_file
from appliance.settings.owner_settings import OwnerSettings
from appliance.settings.settings_change import REQUEST, SettingsChange

FILE = "INTERLUDE_OWNER_FILE"  # environment: the settings file that the box was started with
SECRET = "mqtt-password"  # noqa: S105  # a file's name
Standing = Literal["", "awaited", "done", "failed"]


@dataclass
class SettingsAccess:
    """`owner`: the file. `handed`: who has the rights is asked; else the file is written. `now_s`:
    a clock that never runs backwards."""

    owner: OwnerSettings
    handed: bool
    now_s: Callable[[], float]
    wanted: Path = WANTED
    changed: Path = CHANGED
    _last: str = field(default="", init=False)  # the change that was made last, by this page
    _since_s: float = field(default=0.0, init=False)
    _outcome: RequestOutcome | None = field(default=None, init=False)

    def submit(self, change: SettingsChange) -> None:
        """Have it made. Raises InterludeError where it is known at once that it cannot be."""
        self.owner.check_change(change)
        if self.handed:
            handed_request.ask(REQUEST, change, self.wanted)
        else:
            self.owner.change(change)
        self._last, self._since_s = change.id, self.now_s()
        self._outcome = None if self.handed else RequestOutcome(change.id)

    def standing(self) -> tuple[Standing, str]:
        """How the last change stands, and what was wrong with it."""
        if not self._last:
            return "", ""
        if self._outcome is None:
            self._outcome = handed_request.outcome(REQUEST, self._last, self.changed)
        if self._outcome is None:
            late = self.now_s() - self._since_s > handed_request.RECORD_S
            return ("failed", "") if late else ("awaited", "")
        problem = " ".join(filter(None, (self._outcome.problem, self._outcome.remedy)))
        return ("failed" if problem else "done"), problem

    def can_undo(self) -> bool:
        try:
            return self.owner.can_undo()
        except InterludeError:
            return False


def settings_access(
    now_s: Callable[[], float], environment: Mapping[str, str] = os.environ
) -> SettingsAccess:
    """Of this process."""
    named = environment.get(FILE, "")
    service = bool(environment.get("STATE_DIRECTORY"))
    path = Path(named) if named else SYSTEM_FILE if service else owner_file() or user_file()
    handed = path == SYSTEM_FILE
    folder = path.parent / "secrets" if handed else path.resolve().parent
    owner = OwnerSettings(
        path if handed else path.resolve(), folder / SECRET, auto_detection.usable, named=not handed
    )
    return SettingsAccess(owner, handed, now_s)
