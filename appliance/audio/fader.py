"""How loud each sample of a block is: fades, volume, and no click at a sudden end. Pure."""

from __future__ import annotations

import numpy as np

from appliance.audio.format import fade_in
from appliance.ipc.ring import Samples

QUIET = 64  # of 32767 (−54 dBFS): a step to or from less than this does not click


class Fader:
    """A door that opens and shuts over `ramp_frames`. It starts open.

    `block` is the int16 block it writes, valid until the next call.
    """

    def __init__(self, block_frames: int, ramp_frames: int, volume: float) -> None:
        self.block: Samples = np.zeros(block_frames, np.int16)
        self._ramp = fade_in(ramp_frames)
        self._open = ramp_frames  # 0: shut
        self._volume = self._volume_due = volume
        self._last = 0  # the last voice sample that was sent
        self._tail = 0  # samples of fade still owed to it, should nothing follow

    @property
    def is_shut(self) -> bool:
        return self._open == 0

    @property
    def still_open(self) -> int:
        """Samples that shutting would still take."""
        return self._open

    def set_volume(self, volume: float) -> None:
        """0 to 1, reached by the end of the next block."""
        self._volume_due = volume

    def throw_open(self) -> None:
        """At once, for a sound that begins by itself."""
        self._open = len(self._ramp)

    def slam(self) -> None:
        """At once, for a sound that has stopped by itself."""
        self._open = 0

    def opening(self, voice: Samples) -> Samples:
        """The next block: `voice`, faded in as far as the door is not open yet, then silence."""
        n = min(len(self._ramp) - self._open, len(voice))
        levels = np.ones(len(voice), np.float32)
        levels[:n] = self._ramp[self._open : self._open + n]
        self._open += n
        return self._fill(voice * levels)

    def shutting(self, voice: Samples) -> Samples:
        """The next block: `voice`, at most `still_open` samples, faded out, then silence."""
        n = len(voice)
        levels = self._ramp[self._open - n : self._open][::-1]
        # Less voice than the fade needs: the voice itself has ended, its last sample fades alone.
        self._open = self._open - n if n in (self._open, len(self.block)) else 0
        return self._fill(voice * levels)

    def silence(self) -> Samples:
        """The next block when there is no voice."""
        return self._fill(np.empty(0, np.float32))

    def _fill(self, voice: np.ndarray[tuple[int], np.dtype[np.float32]]) -> Samples:
        n, size = len(voice), len(self.block)
        if self._volume == self._volume_due:
            self.block[:n] = np.rint(voice * self._volume)
        else:
            gains = np.linspace(self._volume, self._volume_due, size + 1)[1:]
            self.block[:n] = np.rint(voice * gains[:n])
            self._volume = self._volume_due
        self.block[n:] = 0
        if n:
            self._last = int(self.block[n - 1])
            self._tail = len(self._ramp) if abs(self._last) > QUIET else 0
        if self._tail and n < size:
            k = min(self._tail, size - n)
            self.block[n : n + k] = self._last * self._ramp[self._tail - k : self._tail][::-1]
            self._tail -= k
        return self.block
