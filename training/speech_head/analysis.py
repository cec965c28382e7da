"""The codec's sound encoder: sound → parameters every 10 ms (bands.py).

Around each hop four periods of the voice are cut out and resampled to POINTS a period, so that the
pitch is constant inside them. With a Hann window each harmonic is then in three bins of four, and
the fourth has only noise. The mean power of a harmonic's four bins is the level there; the fourth
bin's share of it is the share of noise. Without a voice the same cells are means of the spectrum.
Nothing is trained here.
"""

import numpy as np
import soxr
from numpy.typing import NDArray

from training.speech_head.bands import (
    AIR,
    BANDS,
    FLOOR,
    HOP,
    PARAMETERS,
    RATE,
    REFERENCE_HZ,
    centres,
)
from training.speech_head.pitch import pitch

PERIODS, POINTS = 4, 256
SIZE, CELLS = PERIODS * POINTS, POINTS // 2 - 1
TWICE = 2  # oversampling, so that linear interpolation between samples is accurate enough
HISS = 2.5  # cells for the mean level without a voice: in noise the power of one cell is random
LEAST_AIR, MOST_AIR = -5.0, 2.0  # natural log of noise over harmonics
HOPS_AT_ONCE = 1000
SILENT = 1e-20  # power a hertz
Array = NDArray[np.float64]
Floats = NDArray[np.float32]


def parameters(sound: Floats, noise: Array | None = None) -> Floats:
    """[samples // 240, 82] of sound at 24 kHz.

    noise: [hops, BANDS], the power a hertz of known noise that is not in `sound`.
    """
    hz = pitch(sound)
    hops, known = len(hz), np.flatnonzero(hz)
    filled = np.full(hops, REFERENCE_HZ)
    if len(known):
        filled = np.interp(np.arange(hops), known, hz[known])
    twice = soxr.resample(np.asarray(sound, np.float32), RATE, TWICE * RATE)
    out = np.empty((hops, PARAMETERS), np.float32)
    for at in range(0, hops, HOPS_AT_ONCE):
        some = np.arange(at, min(hops, at + HOPS_AT_ONCE))
        beside = None if noise is None else noise[some]
        out[some, 2:] = levels(*cells(twice, filled, some), filled[some], hz[some] > 0, beside)
    out[:, 0] = np.log2(np.append(filled[1:], filled[-1:]) / REFERENCE_HZ)
    out[:, 1] = hz > 0
    return out


def cells(twice: Floats, pitch: Array, hops: NDArray[np.int64]) -> tuple[Array, Array]:
    """Power a hertz around each multiple of the pitch, in all and of the noise: [hops, CELLS] each,
    from the first harmonic on."""
    hz = pitch[hops]
    later, earlier = np.minimum(hops + 1, len(pitch) - 1), np.maximum(hops - 1, 0)
    bend = (pitch[later] - pitch[earlier]) / 2 * (RATE / HOP) / hz**2  # relative change a period
    turns = (np.arange(SIZE) - SIZE // 2) / POINTS
    seconds = turns / hz[:, None] * (1 - (0.5 * bend[:, None] * turns).clip(-0.3, 0.3))
    at = ((hops[:, None] * (HOP / RATE) + seconds) * (TWICE * RATE)).clip(0, len(twice) - 1.001)
    low = at.astype(np.int64)
    part = (at - low).astype(np.float32)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(SIZE) / SIZE)).astype(np.float32)
    x = (twice[low] * (1 - part) + twice[low + 1] * part) * window
    power = np.abs(np.fft.rfft(x, axis=1)) ** 2
    # White noise of power p a hertz has the power p · (points a second) / 2 · Σ window² in a bin.
    power /= (0.5 * POINTS * hz * 0.375 * SIZE)[:, None]
    numbers = 1 + np.arange(CELLS)
    bins = PERIODS * numbers
    # Linear interpolation is a filter with the gain sinc².
    droop = np.sinc((hz[:, None] * numbers / (TWICE * RATE)).clip(0, 0.5)) ** 4
    sides = 0.5 * (power[:, bins - 2] + power[:, bins + 2])
    total = (power[:, bins - 1] + power[:, bins] + power[:, bins + 1] + sides) / PERIODS
    return total / droop, np.minimum(sides, total) / droop


def levels(
    total: Array, air: Array, hz: Array, voiced: NDArray[np.bool_], noise: Array | None
) -> Array:
    """[hops, BANDS + AIR]: levels, and the log ratio of noise to harmonics."""
    narrow, wide = (banded(total, hz, BANDS, least) for least in (0.0, HISS))
    level = np.where(voiced[:, None], narrow, wide)
    breath, whole = banded(air, hz, AIR, 3.0), banded(total, hz, AIR, 3.0)
    if noise is not None:
        coarse = noise @ narrowed(BANDS, AIR)
        level, breath, whole = level + noise, breath + coarse, whole + coarse
    share = (smooth(breath) / np.maximum(smooth(whole), SILENT)).clip(1e-3, 1 - 1e-3)
    logs = np.maximum(0.5 * np.log(np.maximum(level, SILENT)), FLOOR)
    ratio = np.log(share / (1 - share)).clip(LEAST_AIR, MOST_AIR)
    return np.concatenate([logs, ratio], 1)


def banded(power: Array, hz: Array, bands: int, least: float) -> Array:
    """Powers in cells of the width `hz` [hops] → powers at the centres of bands.

    Each is the mean over the band's width, and over at least `least` cells.
    """
    middle = centres(bands)
    reach = np.maximum(np.gradient(middle) / hz[:, None], least)
    logs, rows = np.log(np.maximum(power, SILENT)), np.arange(len(power))[:, None]
    out = np.zeros(reach.shape)
    places = np.linspace(-0.4, 0.4, 5)
    for place in places:
        at = (middle / hz[:, None] + place * reach - 1).clip(0, CELLS - 1.001)
        low = at.astype(np.int64)
        part = at - low
        out += np.exp(logs[rows, low] * (1 - part) + logs[rows, low + 1] * part)
    return np.asarray(out / len(places))


def narrowed(many: int, few: int) -> Array:
    """[many, few]: the weights that average `many` bands around the centres of `few` bands."""
    at = np.interp(centres(many), centres(few), np.arange(few))
    weights = np.maximum(0.0, 1 - np.abs(at[:, None] - np.arange(few)))
    return np.asarray(weights / weights.sum(0))


def smooth(x: Array) -> Array:
    """The weighted mean over three hops."""
    padded = np.concatenate([x[:1], x, x[-1:]])
    return np.asarray(0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:])
