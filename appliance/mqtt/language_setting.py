"""The language entity of Home Assistant's device; a choice is written like the page's settings.

In: a choice. Out: the language to show: the one that the box speaks, and once another was written,
the one that it speaks after its next start.
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

TAKEN = (ANY, *NAMES)  # accepted on the topic
# Offered in the select entity: the languages that the box's own sentences are translated to. With
# all languages the discovery payload would become too long.
OFFERED = (ANY, *languages())


class LanguageSetting:
    """Submits a change of the language and follows its result. `setting`: the present value."""

    def __init__(self, access: SettingsAccess, setting: str) -> None:
        self._access = access
        self._chosen = self._current = setting

    @property
    def shown(self) -> str:
        return self._current

    def choose(self, language: str) -> str:
        """Submit a change of the setting. Returns why it cannot be made, or ""."""
        try:
            base = fingerprint(self._access.owner.text())
            self._access.submit(SettingsChange(new_id(), base, {"language": language}))
        except InterludeError as error:
            return str(error)
        self._chosen = language
        return ""

    def look(self) -> str:
        """Check for the result of a submitted change. Returns why it failed, once, or ""."""
        if self._chosen == self._current:
            return ""
        progress, problem = self._access.requests.progress()
        if progress == "done":
            self._current = self._chosen
        elif progress == "failed":
            self._chosen = self._current
            return problem or "The request was not carried out."
        return ""
