"""Measures the echo in the microphone and the residual echo after the canceller, by band.

In: blocks of the microphone, of the canceller's output, of the loudspeaker. Out: EchoMeasured.
Pure: time is the number of samples given.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from appliance.hear.sound_measures import FULL
from appliance.messages.trying import CancellerState, EchoBand, EchoMeasured
from appliance.pcm import FULL_SCALE, RATE_HZ, Samples

EDGES_HZ = (125, 500, 1000, 2000, 4000, 7000)  # the bands of a voice; little is played outside them
LONGEST_S = 30.0  # of a trial; sound after that is not the trial's
_WINDOW_FRAMES = 480  # 30 ms: six blocks
_LEARNS_S = 1.0  # of sound, not counted: a new canceller needs them to converge
_PLAYED_RMS = 10 ** (-55 / 20) * FULL_SCALE  # softer windows, between words, have no echo
_TAIL_FRAMES = RATE_HZ // 4  # reverberation after the sound: counted neither as echo nor as noise
_AFTER_FRAMES = _TAIL_FRAMES + RATE_HZ // 2  # 0.5 s of the room's noise
_NOTHING_DB = -100.0

Power = npt.NDArray[np.float64]


class EchoMeter:
    """One trial: call `process` with every block until `over`; `finish` returns the result."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sounded = False
        self._window = np.hanning(_WINDOW_FRAMES)
        hz = np.fft.rfftfreq(_WINDOW_FRAMES, 1 / RATE_HZ)
        self._first_bins = np.searchsorted(hz, EDGES_HZ)
        self._blocks: list[tuple[Samples, Samples, Samples]] = []
        self._echo_power, self._residue_power, self._noise_power = (
            np.zeros(len(EDGES_HZ) - 1) for _ in range(3)
        )
        self._echo_windows = self._noise_windows = self._sound_windows = 0
        self._since_sound = _TAIL_FRAMES
        self._longest_frames = round(LONGEST_S * RATE_HZ)
        self._frames = self._clipped = self._onsets = 0
        self._busy = self._disturbed = False

    @property
    def over(self) -> bool:
        return self._frames > self._longest_frames

    def end(self) -> None:
        """The box has finished playing: measure the room's noise for a moment, then be over."""
        self._longest_frames = min(self._longest_frames, self._frames + _AFTER_FRAMES)

    def process(self, mic: Samples, residue: Samples, played: Samples, *, busy: bool) -> None:
        """Process one block. `busy`: an onset or utterance is under way."""
        self._frames += len(mic)
        if busy and not self._busy and self.sounded:
            self._onsets += 1
        self._busy = busy
        self._disturbed |= busy
        self._blocks.append((mic, residue, played))
        if sum(len(block[0]) for block in self._blocks) >= _WINDOW_FRAMES:
            self._count_window()

    def finish(self, canceller: CancellerState) -> EchoMeasured:
        """The result so far."""
        powers = zip(self._echo_power, self._residue_power, self._noise_power, strict=True)
        bands = tuple(
            EchoBand(low, high, _db(echo, self._echo_windows), _db(residue, self._echo_windows),
                     _db(noise, self._noise_windows))
            for low, high, (echo, residue, noise) in zip(
                EDGES_HZ[:-1], EDGES_HZ[1:], powers, strict=True)
        )  # fmt: skip
        sounded_s = round(self._sound_windows * _WINDOW_FRAMES / RATE_HZ, 2)
        return EchoMeasured(self.number, bands, sounded_s, self._onsets, self._clipped, canceller)

    def _count_window(self) -> None:
        mic, residue, played = (
            np.concatenate(blocks) for blocks in zip(*self._blocks, strict=True)
        )
        self._blocks.clear()
        disturbed, self._disturbed = self._disturbed, self._busy
        sounding = float(np.sqrt(np.mean(np.square(played.astype(np.float64))))) > _PLAYED_RMS
        self._since_sound = 0 if sounding else self._since_sound + len(mic)
        if sounding:
            self.sounded = True
            self._sound_windows += 1
            self._clipped += int(np.count_nonzero((mic >= FULL) | (mic <= -FULL)))
        if disturbed:
            return
        if sounding and self._sound_windows * _WINDOW_FRAMES > _LEARNS_S * RATE_HZ:
            self._echo_power += self._powers(mic)
            self._residue_power += self._powers(residue)
            self._echo_windows += 1
        elif self._since_sound > _TAIL_FRAMES:
            self._noise_power += self._powers(mic)
            self._noise_windows += 1

    def _powers(self, samples: Samples) -> Power:
        """The power of each band, as a mean square where full scale is 1."""
        wave = samples[:_WINDOW_FRAMES] / FULL_SCALE * self._window
        power = np.abs(np.fft.rfft(wave)) ** 2
        scale = 2 / (_WINDOW_FRAMES * np.sum(self._window**2))
        powers: Power = np.add.reduceat(power, self._first_bins)[:-1] * scale
        return powers


def _db(power: float, windows: int) -> float:
    mean = power / windows if windows else 0.0
    return round(10 * math.log10(mean), 1) if mean > 1e-10 else _NOTHING_DB
