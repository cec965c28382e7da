"""The owner's recording on its way to the loudspeaker: out of the ring `tried`, and gone after it.

In: slots of the listener. Out: the sound for the speech queue; silence over what of it is left in
the ring `voice` once it was played or cut.
"""

from __future__ import annotations

import numpy as np

from appliance.pcm import EMPTY, Samples
from appliance.runtime.ipc.ring import RingReader, RingWriter


class TriedSound:
    """`tried`: None where this box has none of it."""

    def __init__(self, tried: RingReader | None, voice: RingWriter) -> None:
        self._tried, self._voice = tried, voice
        self._pieces: list[Samples] = []
        self._number = 0
        self._silence = np.zeros(voice.spec.frames, np.int16)
        self._left = 0  # slots of the ring `voice` that may hold a part of it

    @property
    def descriptors(self) -> tuple[int, ...]:
        """To poll for reading."""
        return () if self._tried is None else (self._tried.fileno(),)

    def collect(self) -> None:
        """Take what has come; of trial 0 it is silence, and all before it is to be forgotten."""
        for slot in self._tried.read_all() if self._tried is not None else ():
            if slot.stream != self._number:
                self._pieces.clear()
                self._number = slot.stream
            if slot.stream:
                self._pieces.append(slot.samples)

    def pop(self) -> Samples:
        """The recording, for once."""
        sound = np.concatenate(self._pieces) if self._pieces else EMPTY
        self._pieces.clear()
        self._left = self._voice.spec.slots
        return sound

    def overwrite(self, *, busy: bool) -> None:
        """Once nothing is `busy` in it: silence into as many slots of `voice` as it has room for.
        The player drops them: they belong to no answer."""
        if busy:
            return
        for _ in range(min(self._left, self._voice.room()) if self._left else 0):
            self._voice.write(self._silence)
            self._left -= 1
