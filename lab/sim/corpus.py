"""Recordings of a folder as clips with their onsets, and which speakers a bench may hear.

In: what hear/bargein/recordings.py found. Out: clips. Training and benches read recordings here and
nowhere else, so that none is in both (`held_out`).
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
Floats = npt.NDArray[np.float32]

SHORTEST_S = 0.08
SILENT_PEAK = 10 ** (-60 / 20)
CLIPPED_SHARE = 0.01  # of samples at full scale
CLEAR_MS = 20  # before the onset, quiet: the onset of such a clip is known to the sample
CLEAR_DB = -38.0  # of that quiet against the sound's own loudness
_STEP = 80  # 5 ms
_LEAST = 1e-12  # of a power: digital silence is at -120 dB
_OVER_FLOOR_DB, _UNDER_PEAK_DB = 10.0, 30.0  # where a sound begins in a clip with noise of its own


@dataclass(frozen=True)
class SoundClip:
    """A sound at its own level: float32 mono at 16 kHz; `onset` and `end` (last + 1) in samples.

    clear  nothing sounds before the onset: it is good to the sample. Else it is where the sound
           rises out of the clip's own noise, good to 5 ms or so.
    """

    samples: Floats
    onset: int
    end: int
    clear: bool

    def at(self, level_db: float) -> Samples:
        """int16, its sound (onset to end) of `level_db` dBFS rms, never above full scale."""
        return speech_source.scaled(self.samples, self.onset, self.end, level_db)


def held_out(name: str) -> bool:
    """Whether a speaker, or a synthetic voice's variant, is kept for benches: about three of ten.

    No training and no tuning may ever hear one of these.
    """
    return hashlib.sha1(name.encode(), usedforsecurity=False).digest()[0] % 10 >= 7


def of_speakers(sources: Iterable[RecordingFile], which: Speakers) -> list[RecordingFile]:
    """Only those speakers. Noise and background have none, and belong to everybody."""
    return [
        source
        for source in sources
        if which == "all"
        or source.kind in ("noise", "background")
        or held_out(source.speaker) == (which == "held-out")
    ]


def load(source: RecordingFile) -> SoundClip:
    """The sound in a file. Raises RecordingError or SceneError, in one sentence, if it is none, or
    too short, silent, clipped, or noise from end to end in which nothing stands out."""
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
        raise RecordingError(f"{source.path}: nothing stands out of its noise.")
    return clip


def with_edges(wave: Floats) -> SoundClip | None:
    """Where the sound in `wave` begins and ends; None if nothing stands out of its own noise."""
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
    pairs = np.flatnonzero(over[:-1] & over[1:])  # one loud step is a click
    if not len(pairs):
        return SoundClip(wave, onset, end, clear=False)
    return SoundClip(wave, int(pairs[0]) * _STEP, int(pairs[-1] + 2) * _STEP, clear=False)
