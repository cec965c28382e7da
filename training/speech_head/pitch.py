"""The pitch of speech every 10 ms: correlation of each stretch with the one a period later, and the
best path through all pitches and "no voice" (dynamic programming).

In: sound at 24 kHz. Out: [samples // 240] Hz, 0 where there is no voice.
"""

import numpy as np
import soxr
from numpy.typing import NDArray

from training.speech_head.bands import HOP, RATE

SLOW = 8000  # Hz, the sample rate of the correlation
STRETCH = 240  # samples of it, 30 ms
LOWEST_HZ, HIGHEST_HZ, A_SEMITONE = 70.0, 420.0, 4  # pitches of the path: 4 a semitone
PITCHES = LOWEST_HZ * 2 ** (
    np.arange(int(12 * A_SEMITONE * np.log2(HIGHEST_HZ / LOWEST_HZ))) / 12 / A_SEMITONE
)
LIKE = 0.45  # least correlation of a voice
SWITCH, JUMP = 0.25, 1.2  # costs: of a voice's start or end, of an octave from hop to hop
HIGHER = 0.04  # bonus an octave, since the correlation at half the pitch is as high
QUIET_DB = 50.0  # softer than this below the loudest there is no voice
Floats = NDArray[np.float32]
Array = NDArray[np.float64]


def pitch(sound: Floats) -> Array:
    hops = len(sound) // HOP
    likeness, lags = alike(np.asarray(sound, np.float32), hops)
    at = SLOW / PITCHES
    low = np.floor(at).astype(int) - lags[0]
    part = at - np.floor(at)
    score = likeness[:, low] * (1 - part) + likeness[:, low + 1] * part
    score += HIGHER * np.log2(PITCHES / LOWEST_HZ) - LIKE
    chosen = way(score)
    out = np.zeros(hops)
    for h in np.flatnonzero(chosen >= 0):
        near = np.arange(low[chosen[h]] - 1, low[chosen[h]] + 3).clip(1, len(lags) - 2)
        top = int(near[np.argmax(likeness[h, near])])
        a, b, c = likeness[h, top - 1 : top + 2]
        bend = a - 2 * b + c
        shift = 0.5 * (a - c) / bend if bend < -1e-9 else 0.0
        out[h] = SLOW / (lags[top] + np.clip(shift, -0.5, 0.5))
    return out


def alike(sound: Floats, hops: int) -> tuple[Array, NDArray[np.int64]]:
    """[hops, lags]: correlation of two stretches one lag apart, centred on the hop; the lags."""
    x = soxr.resample(sound, RATE, SLOW).astype(np.float64)
    lags = np.arange(int(SLOW / HIGHEST_HZ) - 2, int(SLOW / LOWEST_HZ) + 3)
    most, size = int(lags[-1]), 512
    side = (STRETCH + most) // 2 + 1
    x = np.pad(x, (side, side + size))
    loud = np.convolve(x**2, np.ones(STRETCH), "valid")
    # Start of the first stretch, so that both together are centred on the hop for a medium lag.
    first = side + (np.arange(hops) * HOP * SLOW) // RATE - (STRETCH + most // 2) // 2
    out = np.empty((hops, len(lags)))
    for at in range(0, hops, 4000):
        begin = first[at : at + 4000]
        a = x[begin[:, None] + np.arange(STRETCH)]
        b = x[begin[:, None] + np.arange(STRETCH + most)]
        spectra = np.conj(np.fft.rfft(a, size)) * np.fft.rfft(b, size)
        together = np.fft.irfft(spectra, size)[:, lags]
        energy = loud[begin][:, None] * loud[begin[:, None] + lags]
        out[at : at + 4000] = together / np.sqrt(energy + 1e-9)
    silent = loud[first] < loud.max() * 10 ** (-QUIET_DB / 10)
    out[silent] = 0.0
    return out, lags


def way(score: Array) -> NDArray[np.int64]:
    """The best path through [hops, pitches]; −1 for "no voice", whose score is 0."""
    hops, n = score.shape
    octaves = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / (12 * A_SEMITONE)
    price = JUMP * octaves
    best, silent = score[0].copy(), 0.0
    came = np.empty((hops, n), np.int16)
    came_silent = np.empty(hops, np.int16)
    columns = np.arange(n)
    for h in range(1, hops):
        moved = best[None, :] - price
        before = moved.argmax(1)
        value = moved[columns, before]
        begins = silent - SWITCH > value
        came[h] = np.where(begins, -1, before)
        top = int(best.argmax())
        ended = float(best[top]) - SWITCH
        came_silent[h] = top if ended > silent else -1
        best = np.where(begins, silent - SWITCH, value) + score[h]
        silent = max(silent, ended)
    out = np.empty(hops, np.int64)
    out[-1] = int(best.argmax()) if best.max() > silent else -1
    for h in range(hops - 1, 0, -1):
        out[h - 1] = came_silent[h] if out[h] < 0 else came[h, out[h]]
    return out
