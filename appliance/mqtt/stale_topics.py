"""Retained topics that the box left at its broker under an earlier prefix, base or id.

In: the present topics, and the earlier ones from a small file. Out: topics to empty, so that no
second device stays in Home Assistant after the owner changes these settings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from appliance.atomic_file import write_whole
from appliance.record_file import read_record
from appliance.settings import Settings

StaleTopic = Annotated[
    str, msgspec.Meta(pattern=r"^[^+#\x00]{1,1000}$")
]  # without wildcards, which cannot be published to

_MOST_BYTES = 1_000_000  # a topic may be long, and there are a hundred


class _StaleTopicsFile(msgspec.Struct, frozen=True):
    """`place`: host and port of the broker. `topics`: the retained topics of the box there."""

    place: str
    topics: tuple[StaleTopic, ...]


def path(settings: Settings) -> Path:
    return settings.state_path() / "link/left-at-the-broker.json"


class StaleTopics:
    """`current`: the retained topics of the box now. `stale`: the topics to be emptied."""

    def __init__(self, file: Path, current: tuple[str, ...]) -> None:
        self._file = file
        self._current = current
        self._place = ""
        self._pending: set[int] = set()
        self.stale: tuple[str, ...] = ()

    def on_connected(self, place: str) -> None:
        """Find the stale topics at the broker `place` and save the list. Raises OSError."""
        self._place, self._pending = place, set()
        saved = read_record(self._file, _StaleTopicsFile, _MOST_BYTES)
        earlier = () if saved is None or saved.place != place else saved.topics
        self.stale = tuple(topic for topic in earlier if topic not in self._current)
        self._write()

    def emptied(self, number: int) -> None:
        """Note that an emptying message was sent; its receipt has this number."""
        self._pending.add(number)

    def receipt(self, number: int) -> None:
        """Record a receipt; after the last one, `stale` is empty. Raises OSError."""
        if number in self._pending:
            self._pending.discard(number)
            if not self._pending:
                self.stale = ()
                self._write()

    def _write(self) -> None:
        wanted = _StaleTopicsFile(self._place, (*self.stale, *self._current))
        if read_record(self._file, _StaleTopicsFile, _MOST_BYTES) == wanted:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._file, msgspec.json.encode(wanted))
