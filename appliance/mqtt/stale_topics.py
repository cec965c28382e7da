"""What the box once left at its broker under other names: another prefix, base or id than now.

In: the topics of now, and those of before from a small file. Out: topics to be emptied, so that no
ghost of the box stays behind when its owner changes these settings.
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
]  # one that can be written to

_MOST_BYTES = 1_000_000  # a topic may be long, and there are a hundred


class _StaleTopicsFile(msgspec.Struct, frozen=True):
    """`place`: the broker, as the settings name it. `topics`: what the box keeps there."""

    place: str
    topics: tuple[StaleTopic, ...]


def path(settings: Settings) -> Path:
    return settings.state_path() / "left-at-the-broker.json"


class StaleTopics:
    """`ours`: all that the box keeps at the broker now. `stale`: what is to be emptied there."""

    def __init__(self, file: Path, ours: tuple[str, ...]) -> None:
        self._file = file
        self._ours = ours
        self._place = ""
        self._open: set[int] = set()
        self.stale: tuple[str, ...] = ()

    def on_connected(self, place: str) -> None:
        """The broker at `place` has let us in. Raises OSError where that cannot be written down."""
        self._place, self._open = place, set()
        left = read_record(self._file, _StaleTopicsFile, _MOST_BYTES)
        before = () if left is None or left.place != place else left.topics
        self.stale = tuple(topic for topic in before if topic not in self._ours)
        self._write()

    def emptied(self, number: int) -> None:
        """Sent with that number; its receipt is to come."""
        self._open.add(number)

    def receipt(self, number: int) -> None:
        """Once all are there nothing is left. Raises OSError."""
        if number in self._open:
            self._open.discard(number)
            if not self._open:
                self.stale = ()
                self._write()

    def _write(self) -> None:
        now = _StaleTopicsFile(self._place, (*self.stale, *self._ours))
        if read_record(self._file, _StaleTopicsFile, _MOST_BYTES) == now:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._file, msgspec.json.encode(now))
