"""The parameters of the codec's sound, 82 numbers every 10 ms, and the weights of bands in bins.

    0        log2 of the pitch over 200 Hz
    1        voiced (1) or not (0); a decoder gives its logit
    2 … 65   level: half the natural log of the power a hertz, in 64 bands
    66 … 81  air: natural log of the noise's power over the harmonics', in 16 bands
Powers are one-sided, with full scale 1: white noise of variance 1 has 1/12,000 a hertz. Band
centres are equidistant on the mel scale, and values between them are interpolated. The level does
not depend on pitch and noise, so that an error in these does not change it.
"""

import numpy as np
from numpy.typing import NDArray

RATE, HOP, STACK = 24_000, 240, 8
FRAME = HOP * STACK  # 1920 samples, 80 ms
FFT = 960
BANDS, AIR = 64, 16
PARAMETERS = 2 + BANDS + AIR
REFERENCE_HZ = 200.0
FLOOR = -15.0  # of a level: -89 dB of full scale, if all bands have it
TEACHER_HOP = 300
Array = NDArray[np.float64]
Floats = NDArray[np.float32]


def mel(hz: Array | float) -> Array:
    return np.asarray(2595 * np.log10(1 + np.asarray(hz) / 700))


def centres(bands: int) -> Array:
    """The centres of the bands in Hz."""
    return np.asarray(700 * (10 ** (np.linspace(mel(30.0), mel(RATE / 2), bands) / 2595) - 1))


def interpolation(bands: int, bins: int) -> Array:
    """[bands, bins from 0 Hz to half the rate]: the weight of each band in each bin."""
    at = np.interp(np.linspace(0, RATE / 2, bins), centres(bands), np.arange(bands))
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


def noise_powers(log_gains: Floats) -> Array:
    """The teacher's noise [frames of 300 samples, 601 bins], natural logs of gains → the power a
    hertz [hops, BANDS].

    In a frame each bin is a random number with mean power 2. Frames of 1200 samples overlap with
    squared Hann windows, whose sum is 1.5.
    """
    power = np.exp(2.0 * np.minimum(log_gains, 7.0).astype(np.float64)) / (600 * 1.5) / (RATE / 2)
    padded = np.concatenate([power[:1], power, power[-1:]])
    power = (0.25 * padded[:-2] + padded[1:-1] + 0.25 * padded[2:]) / 1.5  # of these windows
    weights = interpolation(BANDS, power.shape[1])
    banded = power @ (weights / weights.sum(1, keepdims=True)).T
    at = np.arange(len(banded) * TEACHER_HOP // HOP) * (HOP / TEACHER_HOP)
    return np.stack([np.interp(at, np.arange(len(banded)), b) for b in banded.T], 1)
