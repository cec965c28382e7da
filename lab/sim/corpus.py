"""Reads recordings as clips with their onsets, and divides speakers between training and benches.

In: the files that hear/bargein/recordings.py found. Out: clips. Training and benches read
recordings only through this module, so that no recording is in both (`held_out`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from appliance.audio.sound_file import read_sound
from appliance.errors import RecordingError
from appliance.hear.bargein.recordings import RecordingFile
from appliance.pcm import RATE_HZ, Samples, level_db
from lab.sim import speech_source

Speakers = Literal["held-out", "training", "all"]
Role = Literal["training", "tuning", "held-out"]
Floats = npt.NDArray[np.float32]

SHORTEST_S = 0.08
TUNING_PART = 6
SILENT_PEAK = 10 ** (-60 / 20)
CLIPPED_SHARE = 0.01  # of samples at full scale
CLEAR_MS = 20  # quiet before an onset that makes the onset exact to the sample
CLEAR_DB = -38.0  # highest level of that quiet, relative to the sound
_STEP = 80  # 5 ms
_LEAST = 1e-12  # least power: digital silence counts as -120 dB
_OVER_FLOOR_DB, _UNDER_PEAK_DB = 10.0, 30.0  # onset in a noisy clip: above floor, below peak


@dataclass(frozen=True)
class SoundClip:
    """A sound at its own level: float32 mono at 16 kHz; `onset` and `end` (last + 1) in samples.

    clear  it is quiet before the onset, which is exact to the sample; else the onset is where the
           sound exceeds the clip's own noise, exact to about 5 ms
    """

    samples: Floats
    onset: int
    end: int
    clear: bool

    def at(self, level_db: float) -> Samples:
        """The samples as int16, scaled to `level_db` dBFS rms from onset to end, and clipped at
        full scale."""
        return speech_source.scaled(self.samples, self.onset, self.end, level_db)


def held_out(name: str) -> bool:
    """Whether a speaker, or a synthetic voice's variant, is kept for benches: about three of ten.

    No training and no tuning may use these.
    """
    return role_of(name) == "held-out"


def role_of(name: str) -> Role:
    """Of ten parts six are for training, one for tuning, and three are held out for the test."""
    part = hashlib.sha1(name.encode(), usedforsecurity=False).digest()[0] % 10
    return "held-out" if part >= 7 else "tuning" if part == TUNING_PART else "training"


def of_speakers(sources: Iterable[RecordingFile], which: Speakers) -> list[RecordingFile]:
    """The recordings of those speakers, and all noise and background, which have no speaker."""
    return [
        source
        for source in sources
        if which == "all"
        or source.kind in ("noise", "background")
        or held_out(source.speaker) == (which == "held-out")
    ]


def load(source: RecordingFile) -> SoundClip:
    """Read the sound in a file. Raises SceneError or RecordingError, in one sentence, if it is no
    sound file, or is too short, silent, clipped, or noise without a louder part."""
    wave = read_sound(source.path)
    if not np.isfinite(wave).all():
        raise RecordingError(f"{source.path}: holds samples that are no numbers.")
    if len(wave) < SHORTEST_S * RATE_HZ:
        raise RecordingError(f"{source.path}: is too short ({1000 * len(wave) / RATE_HZ:.0f} ms).")
    loudness = np.abs(wave)
    if loudness.max() < SILENT_PEAK:
        raise RecordingError(f"{source.path}: is silent.")
    if np.mean(loudness > 0.999) > CLIPPED_SHARE:
        raise RecordingError(f"{source.path}: is clipped.")
    if source.kind in ("television", "background"):
        return SoundClip(wave, 0, len(wave), clear=False)
    clip = with_edges(wave)
    if clip is None:
        raise RecordingError(f"{source.path}: nothing is louder than its noise.")
    return clip


def with_edges(wave: Floats) -> SoundClip | None:
    """Find the start and end of the sound in `wave`; None if nothing exceeds its own noise."""
    onset, end = speech_source.edges(wave)
    if onset >= CLEAR_MS * RATE_HZ // 1000:
        before_db = level_db(wave[:onset], _LEAST) - level_db(wave[onset:end], _LEAST)
        if before_db < CLEAR_DB:
            return SoundClip(wave, onset, end, clear=True)
    steps = wave[: len(wave) // _STEP * _STEP].reshape(-1, _STEP)
    energies_db = 10 * np.log10(np.mean(np.square(steps), axis=1) + 1e-12)
    peak_db = float(np.percentile(energies_db, 99))
    floor_db = float(np.percentile(energies_db, 10))
    if peak_db - floor_db < _OVER_FLOOR_DB and len(wave) > RATE_HZ // 2:
        return None
    over = energies_db > max(peak_db - _UNDER_PEAK_DB, min(floor_db, peak_db - 20) + _OVER_FLOOR_DB)
    pairs = np.flatnonzero(over[:-1] & over[1:])  # a single loud step is a click
    if not len(pairs):
        return SoundClip(wave, onset, end, clear=False)
    return SoundClip(wave, int(pairs[0]) * _STEP, int(pairs[-1] + 2) * _STEP, clear=False)
