"""Selects the rows of the process table that run and the rings that are made, by the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from appliance.errors import SettingsError
from appliance.runtime.ipc.ring_handles import RingSpec
from appliance.runtime.process_table import PROCESSES, RINGS, STATES, TRIED, Process
from appliance.settings import Settings
from appliance.settings.adjusted import adjusted

ESPEAK = "espeak"  # value of `speaking.voice`: the voice that is always installed
HEAD = "head"  # value of `speaking.voice`: the voice that reads the model's hidden states

# Optional rows: one whose function returns False is not started. `words` depends on the recognisers
# that are installed (hear/words/backends.py).
WANTED: dict[str, Callable[[Settings, bool], bool]] = {
    "link": lambda settings, words: bool(settings.link.broker),
    "page": lambda settings, words: settings.page.wanted,
    "panel": lambda settings, words: settings.panel.here,
    "words": lambda settings, words: words,
}


def rows_to_run(settings: Settings, *, words: bool) -> tuple[Process, ...]:
    """The rows that run, with the changes of `settings.processes`. `words`: the row words runs.

    Raises SettingsError if the settings name a row that does not exist.
    """
    names = {row.name for row in PROCESSES}
    for name in settings.processes:
        if name not in names:
            raise SettingsError(f"`processes.{name}`: there is no such process.",
                                f"There are {', '.join(sorted(names))}.")  # fmt: skip
    rows = (row for row in PROCESSES if row.name not in WANTED or WANTED[row.name](settings, words))
    return tuple(_changed(row, settings) for row in rows)


def rings_to_make(settings: Settings) -> tuple[RingSpec, ...]:
    """All rings of the table, except the ring of hidden states without the voice that reads it, and
    the ring of the microphone test without a page."""
    needed = {STATES: adjusted(settings).speaking.voice == HEAD, TRIED: settings.page.wanted}
    return tuple(ring for ring in RINGS if needed.get(ring.name, True))


def _changed(row: Process, settings: Settings) -> Process:
    change = settings.processes.get(row.name)
    if change is None:
        return row
    return replace(
        row,
        cores=row.cores if change.cores is None else change.cores,
        priority=row.priority if change.priority is None else change.priority,
        nice=row.nice if change.nice is None else change.nice,
    )
