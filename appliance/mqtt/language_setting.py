"""The language on Home Assistant's device: chosen there, written as the page's settings are.

In: a choice. Out: what the device shows of it: what the box speaks, and once another was written,
what it speaks after its next start.
"""

from __future__ import annotations

from appliance.errors import InterludeError
from appliance.language.catalogue import languages
from appliance.language.codes import NAMES
from appliance.runtime.handed_request import new_id
from appliance.runtime.settings_access import SettingsAccess
from appliance.settings.language import ANY
from appliance.settings.owner_settings import fingerprint
from appliance.settings.settings_change import SettingsChange

TAKEN = (ANY, *NAMES)  # what the topic takes
# What the device offers: those that the box has its own sentences in. With all of them its
# announcement would be longer than one of a device should be.
OFFERED = (ANY, *languages())


class LanguageSetting:
    """`now`: the setting at the start."""

    def __init__(self, access: SettingsAccess, now: str) -> None:
        self._access = access
        self._chosen = self._now = now

    @property
    def shown(self) -> str:
        return self._now

    def choose(self, language: str) -> str:
        """Have it written. Returns why that cannot be, or ""."""
        try:
            base = fingerprint(self._access.owner.text())
            self._access.submit(SettingsChange(new_id(), base, {"language": language}))
        except InterludeError as error:
            return str(error)
        self._chosen = language
        return ""

    def look(self) -> str:
        """Whether it was written meanwhile. Returns why not, once, or ""."""
        if self._chosen == self._now:
            return ""
        stands, problem = self._access.requests.standing()
        if stands == "done":
            self._now = self._chosen
        elif stands == "failed":
            self._chosen = self._now
            return problem or "Nobody has changed the language."
        return ""
