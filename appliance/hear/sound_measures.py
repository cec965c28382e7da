"""Measures a few seconds of a microphone: levels, offset, clipping. Pure."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from appliance.pcm import FULL_SCALE, RATE_HZ, Samples, from_float, level_db, to_float

FULL = 32_700  # of 32767: converters clip at slightly different values
_BLOCK_FRAMES = RATE_HZ // 20  # 50 ms: shorter than a syllable
_LOUD, _SOFT = 95, 10  # percentiles of the blocks' levels: speech, and the room between words
# As loud as the box's voice (18 dB below full scale) without clipping; with a gain above 30 dB
# there would be only noise.
_PLAYED_DB, _PEAK_DB, _MOST_DB, _LEAST_DB = -20.0, -3.0, 30.0, -20.0
_FADE_FRAMES = RATE_HZ // 100


class SoundMeasures(NamedTuple):
    """Levels in dB of full scale, silence being -100.

    peak_db    the loudest sample
    speech_db  RMS of the loudest syllables
    noise_db   RMS between them
    offset_db  level of the constant offset
    clipped    number of samples at the ends of the range
    """

    peak_db: float
    speech_db: float
    noise_db: float
    offset_db: float
    clipped: int


def measure(samples: Samples) -> SoundMeasures:
    """Measure int16[n] of at least 50 ms."""
    wave = samples.astype(np.float64) / FULL_SCALE
    offset = float(np.mean(wave))
    centred = wave - offset
    blocks = centred[: len(centred) // _BLOCK_FRAMES * _BLOCK_FRAMES].reshape(-1, _BLOCK_FRAMES)
    levels = 10 * np.log10(np.mean(np.square(blocks), axis=1) + 1e-10)
    loud, soft = np.percentile(levels, (_LOUD, _SOFT))
    peak = float(np.abs(wave).max())
    clipped = int(np.count_nonzero((samples >= FULL) | (samples <= -FULL)))
    return SoundMeasures(
        20 * math.log10(peak + 1e-5),
        float(loud),
        float(soft),
        level_db(np.array([offset])),
        clipped,
    )


def play_gain_db(measured: SoundMeasures) -> float:
    """The gain that makes the recording as loud as the box's voice, without clipping."""
    gain_db = min(_PLAYED_DB - measured.speech_db, _PEAK_DB - measured.peak_db)
    return max(_LEAST_DB, min(_MOST_DB, gain_db))


def made_audible(samples: Samples, gain_db: float) -> Samples:
    """The sound amplified by `gain_db`, without offset, and faded at its ends against clicks."""
    wave = to_float(samples)
    wave -= wave.mean()
    wave *= np.float32(10 ** (gain_db / 20))
    fade = np.linspace(0, 1, _FADE_FRAMES, dtype=np.float32)
    wave[:_FADE_FRAMES] *= fade
    wave[-_FADE_FRAMES:] *= fade[::-1]
    return from_float(wave)
