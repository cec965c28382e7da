"""Gain of each sample of a block: fades, volume, and a fade of the last sample. Pure."""

from __future__ import annotations

import numpy as np

from appliance.audio.sample_format import Floats, fade_in
from appliance.pcm import Samples

QUIET = 64  # of 32767 (−54 dBFS): a step to or from less than this does not click


class Fader:
    """A gain between 0 (muted) and 1 (open), ramped along half a raised cosine. Starts at 1.

    A ramp takes `up_frames` up and `down_frames` down, and starts at the current gain. `block` is
    the int16 block that each call writes; it is valid until the next call.
    """

    def __init__(
        self, block_frames: int, *, down_frames: int, up_frames: int, volume: float
    ) -> None:
        self.block: Samples = np.zeros(block_frames, np.int16)
        self._up, self._down = fade_in(up_frames), fade_in(down_frames)[::-1]
        self._from = self._to = 1.0
        self._ramp, self._ramp_at = self._up, up_frames  # ramp from `_from` to `_to`, next index
        self._volume = self._volume_due = volume
        self._last = 0  # the last voice sample that was sent
        self._tail = 0  # samples left of its fade to zero, if no voice follows

    @property
    def is_muted(self) -> bool:
        return self._to == 0.0 and self._ramp_at == len(self._ramp)

    @property
    def fade_out_samples(self) -> int:
        """Samples that a fade to 0 still takes."""
        return len(self._ramp) - self._ramp_at if self._to == 0.0 else len(self._down)

    def set_volume(self, volume: float) -> None:
        """0 to 1, reached by the end of the next block."""
        self._volume_due = volume

    def open_now(self) -> None:
        """Set the gain to 1 without a ramp, for a sound that starts at its own beginning."""
        self._jump(1.0)

    def mute_now(self) -> None:
        """Set the gain to 0 without a ramp, for a sound that has already ended."""
        self._jump(0.0)

    def drop_tail(self) -> None:
        """Cancel the fade of the last sample: the loudspeaker has already gone silent."""
        self._tail = 0

    def ramp_to(self, voice: Samples, level: float = 1.0) -> Samples:
        """The next block: `voice` with the gain ramped to `level`, up or down; then silence."""
        self._start_ramp(level)
        return self._fill(voice * self._levels(len(voice)))

    def fade_out(self, voice: Samples) -> Samples:
        """The next block: `voice`, at most `fade_out_samples` samples, faded out, then silence."""
        self._start_ramp(0.0)
        n = len(voice)
        # Less voice than the fade needs: the voice has ended, and only its last sample is faded.
        short = n < min(self.fade_out_samples, len(self.block))
        levels = self._levels(n)
        if short:
            self.mute_now()
        return self._fill(voice * levels)

    def silence(self) -> Samples:
        """The next block when there is no voice."""
        return self._fill(np.empty(0, np.float32))

    def _jump(self, level: float) -> None:
        self._from = self._to = level
        self._ramp_at = len(self._ramp)

    def _start_ramp(self, level: float) -> None:
        if level == self._to:
            return
        self._from, self._to = self._level(), level
        self._ramp = self._up if level > self._from else self._down
        self._ramp_at = 0

    def _level(self) -> float:
        """Gain of the last sample."""
        if self._ramp_at == len(self._ramp):
            return self._to
        if not self._ramp_at:
            return self._from
        return float(self._ramp_levels(self._ramp_at - 1, self._ramp_at)[0])

    def _levels(self, count: int) -> Floats:
        """Gains of the next `count` samples."""
        levels = np.full(count, self._to, np.float32)
        n = min(count, len(self._ramp) - self._ramp_at)
        levels[:n] = self._ramp_levels(self._ramp_at, self._ramp_at + n)
        self._ramp_at += n
        return levels

    def _ramp_levels(self, first: int, last: int) -> Floats:
        low, high = sorted((self._from, self._to))
        part: Floats = np.float32(low) + np.float32(high - low) * self._ramp[first:last]
        return part

    def _fill(self, voice: Floats) -> Samples:
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
            self._tail = len(self._down) if abs(self._last) > QUIET else 0
        if self._tail and n < size:
            k = min(self._tail, size - n)
            at = len(self._down) - self._tail
            self.block[n : n + k] = self._last * self._down[at : at + k]
            self._tail -= k
        return self.block
