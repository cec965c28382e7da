"""Selects the rows of the process table that run on this box, by settings and installed files."""

from __future__ import annotations

from appliance.hear.words.backends import words_wanted
from appliance.runtime import enabled
from appliance.runtime.process_table import Process
from appliance.settings import Settings


def rows_to_run(settings: Settings) -> tuple[Process, ...]:
    """The rows to run. Raises SettingsError if the settings name a row that does not exist."""
    return enabled.rows_to_run(settings, words=words_wanted(settings))
