"""The endless answer that a program plays, and the log of what became of it.

In: the sound, and each block as it is played. Out: samples, events, and whether to ask again.
"""

from __future__ import annotations

import numpy as np

from appliance.sound_format import RATE_HZ
from lab.peers.pipe import Event, Samples

THINKS_S = 0.6  # from the end of the owner's turn to the next answer, as of the simulated box
SILENT_S = 6.5  # after so long a silence the owner asks again: programs wait up to 5 s for a turn


class AnswerLog:
    """`now`: the index after the last sample of the microphone that was processed."""

    def __init__(self, talk: Samples, asked: int) -> None:
        """`talk`: int16, looped. `asked`: the sample at which the first answer is due."""
        self.asked = asked
        self.now = 0
        self.audible = False  # whether the last block was of an answer
        self._talk = talk
        self._position = 0
        self._events: list[Event] = []
        self._stopping = False
        self._silent_since: int | None = None

    def next_samples(self, count: int) -> Samples:
        """The next samples of the answer's sound, int16[count]."""
        places = np.arange(self._position, self._position + count)
        self._position += count
        return self._talk.take(places, mode="wrap")

    def note(self, kind: str) -> None:
        """Log what the program did, at `now`; what it did before the first answer does not count.
        After "stopped" or "dropped" the next silence is on purpose."""
        if self.now < self.asked:
            return
        self._events.append(Event(self.now, kind))
        self._stopping = self._stopping or kind in ("stopped", "dropped")

    def played(self, at: int, *, audible: bool) -> None:
        """Called with each block that is played from sample `at` on: whether it is of an answer."""
        if audible:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = at
        if self.audible and not audible:
            if self._stopping:
                self._events.append(Event(at, "silent"))
            self._stopping = False
        self.audible = audible

    def due(self, at: int) -> bool:
        """Whether the owner asks now: at `asked`, and after a silence of `SILENT_S`."""
        silent_s = 0.0 if self._silent_since is None else (at - self._silent_since) / RATE_HZ
        due = at == self.asked or (at > self.asked and silent_s > SILENT_S)
        if due:
            self._silent_since = at
        return due

    def pop_events(self) -> tuple[Event, ...]:
        """The events since the last call."""
        events, self._events = tuple(self._events), []
        return events
