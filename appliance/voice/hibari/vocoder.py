"""What hibari's network predicts of each 12.5 ms becomes a waveform, stretch by stretch.

The same sum as `hibari.dsp.synth`, which makes a whole sentence at once: here a stop is seen
between two stretches, the first is out sooner, and memory does not grow with the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from hibari import dsp

Floats = npt.NDArray[np.float32]
RATE_HZ: int = dsp.SR
HOP: int = dsp.HOP  # samples a frame
STRETCH_FRAMES = 40  # 0.5 s: a tenth of a second's work on a slow machine
_OVERLAP = dsp.N_FFT // HOP  # frames that sound at a time
_LEAD = _OVERLAP // 2  # frames before the first sample, which is the middle of the first window


class Spectrum(NamedTuple):
    """The network's outputs for one sentence: [601, frames] each, `f0_hz` [frames]."""

    harmonic: Floats  # logarithm of the size of what sounds with the pulses
    angle: Floats  # by which the pulses are turned: tanh of it times pi
    noise: Floats  # logarithm of the size of the noise
    free: Floats  # logarithm of the size of what has a phase of its own
    phase: Floats
    f0_hz: Floats

    @property
    def frames(self) -> int:
        return len(self.f0_hz)


def waveform(spectrum: Spectrum, noise: np.random.Generator) -> Iterator[Floats]:
    """Its sound, full scale at ±1.0, in stretches; `frames` × HOP samples in all."""
    frames = spectrum.frames
    pulses = np.pad(dsp.pulses(spectrum.f0_hz), dsp.N_FFT // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(pulses, dsp.N_FFT)[::HOP]
    scale = _overlap_scale(frames)
    rest = np.zeros((_OVERLAP - 1, HOP), np.float32)
    for begin in range(0, frames, STRETCH_FRAMES):
        end = min(begin + STRETCH_FRAMES, frames)
        part = Spectrum(*(each[..., begin:end] for each in spectrum))
        sound = dsp.irfft(_bins(part, windows[begin:end], noise).T, dsp.N_FFT, 1) * dsp.WIN
        blocks = sound.reshape(end - begin, _OVERLAP, HOP)
        rows = np.zeros((end - begin + _OVERLAP - 1, HOP), np.float32)
        rows[: _OVERLAP - 1] = rest
        for place in range(_OVERLAP):
            rows[place : place + end - begin] += blocks[:, place]
        ready = len(rows) if end == frames else end - begin
        made = rows[:ready] * scale[begin : begin + ready]
        rest = rows[ready:]
        first = max(0, _LEAD - begin)
        yield made[first : frames + _LEAD - begin].reshape(-1)


def _bins(part: Spectrum, windows: Floats, noise: np.random.Generator) -> npt.NDArray[np.complex64]:
    """The spectra of its frames, [601, frames]."""
    bins = np.ascontiguousarray(dsp.rfft(windows * dsp.WIN_SRC, 1).T)
    bins *= dsp.ex(part.harmonic) * np.exp(1j * np.float32(np.pi) * np.tanh(part.angle))
    shape = (part.noise.shape[0], 2 * part.frames)
    bins += noise.standard_normal(shape, np.float32).view(np.complex64) * dsp.ex(part.noise)
    bins += dsp.ex(part.free) * np.exp(1j * part.phase)
    return bins


def _overlap_scale(frames: int) -> Floats:
    """1 over the sum of the squared windows that meet in each sample, [frames + 3, HOP]."""
    squared = (dsp.WIN * dsp.WIN).reshape(_OVERLAP, HOP)
    sums = np.zeros((frames + _OVERLAP - 1, HOP), np.float32)
    for place in range(_OVERLAP):
        sums[place : place + frames] += squared[place]
    return np.reciprocal(np.maximum(sums, np.float32(1e-11)))
