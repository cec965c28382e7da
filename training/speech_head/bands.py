"""The parameters of the codec's sound: 98 numbers every 10 ms; how bands and bins belong together.

    0        log2 of the pitch over 200 Hz
    1        voiced (1) or not (0); of a decoder its logit
    2 … 65   natural log of the harmonics' gain in 64 bands
    66 … 97  natural log of the noise's gain in 32 bands
Gains are of a filter: for a pulse train whose harmonics have the amplitude 1, for white noise of
variance 1. Band centres are even on the mel scale; between two of them a gain is interpolated in
the log domain, so that bands and bins are linear in one another.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.speech_head import teacher

RATE, HOP, STACK = 24_000, 240, 8
FRAME = HOP * STACK  # 1920 samples, 80 ms
FFT = 960
HARMONIC, NOISE = 64, 32
PARAMETERS = 2 + HARMONIC + NOISE
REFERENCE_HZ = 200.0
FLOOR = -12.0  # of a gain's logarithm: below hearing
TEACHER_BINS = 601
Array = NDArray[np.float64]
Floats = NDArray[np.float32]


def mel(hz: Array | float) -> Array:
    return np.asarray(2595 * np.log10(1 + np.asarray(hz) / 700))


def interpolation(bands: int, bins: int) -> Array:
    """[bands, bins of 0 Hz … half the rate]: the weights of bands in bins."""
    centres = 700 * (10 ** (np.linspace(mel(30.0), mel(RATE / 2), bands) / 2595) - 1)
    at = np.interp(np.linspace(0, RATE / 2, bins), centres, np.arange(bands))
    low = np.minimum(np.floor(at).astype(int), bands - 2)
    weights, column = np.zeros((bands, bins)), np.arange(bins)
    weights[low, column] += 1 - (at - low)
    weights[low + 1, column] += at - low
    return weights


def minimum_phase(bins: int) -> Array:
    """[bins, bins]: log gain → phase in radians, by folding the cepstrum."""
    size = 2 * (bins - 1)
    fold = np.zeros(size)
    fold[1 : size // 2] = 2.0
    fold[0] = fold[size // 2] = 1.0
    cepstra = np.fft.irfft(np.eye(bins), axis=1) * fold
    return np.asarray(np.fft.rfft(cepstra, axis=1).imag)


_HARMONIC = np.linalg.pinv(interpolation(HARMONIC, TEACHER_BINS))
_NOISE = np.linalg.pinv(interpolation(NOISE, TEACHER_BINS))
# The teacher's gains are magnitudes of a Hann window's transform of 1200 samples.
_HARMONIC_SCALE, _NOISE_SCALE = np.log(300.0), 0.5 * np.log(450.0)


def parameters(said: "teacher.Said") -> Floats:
    """[samples / 240, 98]; row h is of the time 240 · h, its pitch of one hop later."""
    harmonic = np.maximum(said.log_harmonic - _HARMONIC_SCALE, FLOOR) @ _HARMONIC
    noise = np.maximum(said.log_noise - _NOISE_SCALE, FLOOR) @ _NOISE
    voiced = said.hz > 40
    frames = np.arange(len(voiced))
    known = frames[voiced] if voiced.any() else frames
    hz = np.interp(frames, known, said.hz[voiced] if voiced.any() else known * 0 + REFERENCE_HZ)
    at = np.arange(len(said.samples) // HOP) * (HOP / teacher.HOP)

    def sampled(x: NDArray[Any], shift: float = 0.0) -> Array:
        t = np.clip(at + shift, 0, len(x) - 1)
        low = np.floor(t).astype(int)
        part = (t - low)[:, None]
        return np.asarray(x[low] * (1 - part) + x[np.minimum(low + 1, len(x) - 1)] * part)

    pitch = np.log2(sampled(hz[:, None], HOP / teacher.HOP) / REFERENCE_HZ)
    parts = [pitch, sampled(voiced[:, None].astype(float)), sampled(harmonic), sampled(noise)]
    return np.concatenate(parts, 1).astype(np.float32)
