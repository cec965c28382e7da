"""Converts the network's output for each 12.5 ms frame to a waveform, stretch by stretch.

The computation is that of `hibari.dsp.synth`, which makes a complete sentence at once. In stretches
a stop has an effect sooner, the first sound comes sooner, and memory does not grow with the length.
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
STRETCH_FRAMES = 40  # 0.5 s, which take a slow machine 0.1 s to compute
_OVERLAP = dsp.N_FFT // HOP  # frames that overlap at each sample
_LEAD = _OVERLAP // 2  # frames before the first sample, which is the middle of the first window


class Spectrum(NamedTuple):
    """The network's outputs for one sentence: [601, frames] each, `f0_hz` [frames]."""

    harmonic: Floats  # log magnitude of the part excited by the pulses
    angle: Floats  # phase shift of that part: pi times tanh of this
    noise: Floats  # log magnitude of the noise
    free: Floats  # log magnitude of the part with its own phase
    phase: Floats  # of that part
    f0_hz: Floats

    @property
    def frames(self) -> int:
        return len(self.f0_hz)


def waveform(spectrum: Spectrum, noise: np.random.Generator) -> Iterator[Floats]:
    """The sound, full scale at ±1.0, in stretches; in total `frames` × HOP samples."""
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
    """The complex spectra of the frames, [601, frames]."""
    bins = np.ascontiguousarray(dsp.rfft(windows * dsp.WIN_SRC, 1).T)
    bins *= _polar(part.harmonic, np.float32(np.pi) * np.tanh(part.angle))
    shape = (part.noise.shape[0], 2 * part.frames)
    bins += noise.standard_normal(shape, np.float32).view(np.complex64) * dsp.ex(part.noise)
    bins += _polar(part.free, part.phase)
    return bins


def _polar(log_size: Floats, angle: Floats) -> npt.NDArray[np.complex64]:
    """The complex numbers of that size and angle, as hibari computes them: NumPy's cosine and sine
    use the processor's vectors, which its complex `exp` does not; that takes 20 times as long."""
    made = np.empty(angle.shape, np.complex64)
    np.cos(angle, out=made.real)
    np.sin(angle, out=made.imag)
    made *= dsp.ex(log_size)
    return made


def _overlap_scale(frames: int) -> Floats:
    """1 over the sum of the squared windows that overlap at each sample, [frames + 3, HOP]."""
    squared = (dsp.WIN * dsp.WIN).reshape(_OVERLAP, HOP)
    sums = np.zeros((frames + _OVERLAP - 1, HOP), np.float32)
    for place in range(_OVERLAP):
        sums[place : place + frames] += squared[place]
    return np.reciprocal(np.maximum(sums, np.float32(1e-11)))
