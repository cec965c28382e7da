"""The owner's test recording between the ring `tried` and the loudspeaker; erased afterwards.

In: slots from the listener. Out: the sound for the speech queue; and, after it was played or cut,
silence that overwrites its remains in the ring `voice`.
"""

from __future__ import annotations

import numpy as np

from appliance.pcm import EMPTY, Samples
from appliance.runtime.ipc.ring import RingReader, RingWriter


class TriedSound:
    """Collects one recording. `tried`: None if this box has no such ring."""

    def __init__(self, tried: RingReader | None, voice: RingWriter) -> None:
        self._tried, self._voice = tried, voice
        self._chunks: list[Samples] = []
        self._number = 0
        self._silence = np.zeros(voice.spec.frames, np.int16)
        self._slots_to_erase = 0  # slots of the ring `voice` that may still contain a part of it

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors to poll for reading."""
        return () if self._tried is None else (self._tried.fileno(),)

    def collect(self) -> None:
        """Read the ring. A new trial number drops the recording before it; trial 0 is silence, and
        only has that effect."""
        for slot in self._tried.read_all() if self._tried is not None else ():
            if slot.stream != self._number:
                self._chunks.clear()
                self._number = slot.stream
            if slot.stream:
                self._chunks.append(slot.samples)

    def pop(self) -> Samples:
        """Return the recording, and forget it."""
        sound = np.concatenate(self._chunks) if self._chunks else EMPTY
        self._chunks.clear()
        self._slots_to_erase = self._voice.spec.slots
        return sound

    def overwrite(self, *, busy: bool) -> None:
        """Unless the speech queue is `busy`, write silence into the ring's free slots, until each
        was overwritten. The player drops this silence: it belongs to no answer."""
        if busy:
            return
        for _ in range(
            min(self._slots_to_erase, self._voice.room()) if self._slots_to_erase else 0
        ):
            self._voice.write(self._silence)
            self._slots_to_erase -= 1
