"""Converts between the card's format and the box's: channels, blocks, rate, fades. Pure numpy.

The box has one format: 16 kHz, mono, int16. The rates of a card (32, 48 or 96 kHz) are integer
multiples of 16 kHz, so that one short linear-phase filter converts with a constant, known delay.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from appliance.pcm import Samples, to_int16

Floats = npt.NDArray[np.float32]

FILTER_DELAY = 16  # samples at 16 kHz (1 ms): half the filter's length
_CUTOFF = 0.95  # of 8 kHz: flat to 6.7 kHz, 60 dB down from 8.5 kHz
_KAISER_BETA = 5.65  # 60 dB (Kaiser 1974); with this length the transition band is 1.8 kHz wide


def conversion_delay(factor: int) -> int:
    """Delay of a conversion by `factor`, in samples at 16 kHz; 0 for factor 1."""
    return FILTER_DELAY if factor > 1 else 0


def _lowpass(factor: int) -> Floats:
    """A windowed sinc at the card's rate, 2 × FILTER_DELAY × factor + 1 taps, gain 1 at 0 Hz."""
    half = FILTER_DELAY * factor
    n = np.arange(-half, half + 1)
    taps = np.sinc(_CUTOFF * n / factor) * np.kaiser(2 * half + 1, _KAISER_BETA)
    shape: Floats = (taps / taps.sum()).astype(np.float32)
    return shape


class Decimator:
    """Card rate → 16 kHz. Output m is the sound FILTER_DELAY samples before input m × factor."""

    def __init__(self, factor: int) -> None:
        self._factor = factor
        self._taps = _lowpass(factor)
        self._past: Floats = np.zeros(len(self._taps) - 1, np.float32)

    def __call__(self, samples: Samples) -> Samples:
        """Convert n × factor samples to n. Keeps the filter's state between calls."""
        if self._factor == 1:
            return samples
        line: Floats = np.concatenate((self._past, samples.astype(np.float32)))
        self._past = line[len(samples) :]
        windows = np.lib.stride_tricks.sliding_window_view(line, len(self._taps))
        return to_int16(windows[:: self._factor] @ self._taps)  # symmetric: no need to reverse


class Interpolator:
    """16 kHz → the card's rate. Input m is heard at output (m + FILTER_DELAY) × factor."""

    def __init__(self, factor: int) -> None:
        self._factor = factor
        length = 2 * FILTER_DELAY + 1
        phases = np.zeros((length, factor), np.float32)  # row: age of the input, column: phase
        taps = _lowpass(factor) * factor
        phases.reshape(-1)[: len(taps)] = taps
        self._phases = np.ascontiguousarray(phases[::-1])  # oldest first, as the windows are
        self._past: Floats = np.zeros(length - 1, np.float32)

    def __call__(self, samples: Samples) -> Samples:
        """Convert n samples to n × factor. Keeps the filter's state between calls."""
        if self._factor == 1:
            return samples
        line: Floats = np.concatenate((self._past, samples.astype(np.float32)))
        self._past = line[len(samples) :]
        windows = np.lib.stride_tricks.sliding_window_view(line, len(self._phases))
        return to_int16((windows @ self._phases).reshape(-1))


def one_channel(frames: Samples, channels: int) -> Samples:
    """A microphone's interleaved frames → mono: the left channel.

    Not the mean: a mono microphone behind a stereo card is often on the left only (the mean would
    cost 6 dB), arrays put their processed beam there, and a mean of two spaced microphones combs.
    """
    return frames if channels == 1 else frames[::channels]


def all_channels(samples: Samples, channels: int) -> Samples:
    """Mono → the same samples in each of the loudspeaker's interleaved channels."""
    return samples if channels == 1 else np.repeat(samples, channels)


class Blocks:
    """Splits the card's periods, of any length, into blocks of `size` samples."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rest = np.empty(0, np.int16)

    def __call__(self, samples: Samples) -> Iterator[Samples]:
        if len(self._rest):
            samples = np.concatenate((self._rest, samples))
        complete = len(samples) - len(samples) % self._size
        self._rest = samples[complete:]
        for at in range(0, complete, self._size):
            yield samples[at : at + self._size]


def fade_in(frames: int) -> Floats:
    """Half a raised cosine from 0 to 1; its slope is 0 at both ends, so that it does not click."""
    return (0.5 - 0.5 * np.cos(np.pi * (np.arange(frames) + 0.5) / frames)).astype(np.float32)
