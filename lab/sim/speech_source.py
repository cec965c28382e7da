"""Sounds of the owner: a text spoken by espeak-ng, or a recording. Out: int16, mono, 16 kHz."""

from __future__ import annotations

import functools
import io
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from appliance.audio.sound_file import read_sound
from appliance.errors import SceneError
from appliance.pcm import RATE_HZ, Samples, from_float

SPEECH_DB = -26.0  # dBFS rms of speech at a distance of 1 m
HUM = re.compile(r"\bm+-?hm+\b", re.IGNORECASE)  # mm-hm, mhm, mm-hmm: espeak-ng spells them out
HUMMED = "[[m'mh'm]]"  # the same in espeak-ng's phonemes, which it hums
EDGE_DB = -40.0  # level of a sound's start and end, relative to its peak


@dataclass(frozen=True)
class OwnerSound:
    """Samples, with the first sample of the sound itself and its last + 1."""

    samples: Samples
    onset: int
    end: int


def recorded(path: Path, level_db: float | None = None) -> OwnerSound:
    """Read a WAV or FLAC file, at its own level or scaled to `level_db` dBFS rms between onset and
    end."""
    return at_level(read_sound(path), level_db)


def at_level(wave: npt.NDArray[np.float32], level_db: float | None) -> OwnerSound:
    """Scale to `level_db` dBFS rms between onset and end, and clip at full scale."""
    onset, end = edges(wave)
    return OwnerSound(scaled(wave, onset, end, level_db), onset, end)


def scaled(wave: npt.NDArray[np.float32], onset: int, end: int, level_db: float | None) -> Samples:
    """The samples as int16, with `level_db` dBFS rms from onset to end; None: at their level."""
    if level_db is not None:
        rms = float(np.sqrt(np.mean(np.square(wave[onset:end])))) or 1.0
        wave = wave * np.float32(10 ** (level_db / 20) / rms)
    return from_float(wave)


def edges(wave: npt.NDArray[np.float32]) -> tuple[int, int]:
    """First sample within 40 dB of the peak, and the one after the last such sample."""
    loud = np.flatnonzero(np.abs(wave) >= np.max(np.abs(wave), initial=0) * 10 ** (EDGE_DB / 20))
    return (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, len(wave))


@functools.lru_cache(maxsize=256)
def spoken(text: str, voice: str, speed: int, pitch: int) -> npt.NDArray[np.float32]:
    command = ["espeak-ng", "--stdout", "-v", voice, "-s", str(speed), "-p", str(pitch)]
    try:
        done = subprocess.run(
            command, input=HUM.sub(HUMMED, text).encode(), capture_output=True, check=True
        )
    except FileNotFoundError as error:
        raise SceneError("espeak-ng is not installed.", "Run `make setup`.") from error
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().splitlines()
        problem = f"espeak-ng cannot say {text!r} as {voice!r}: {' '.join(reason[:1])}."
        raise SceneError(problem) from error
    wave, rate = soundfile.read(io.BytesIO(done.stdout), dtype="float32")
    if not len(wave):
        raise SceneError(f"{text!r} makes no sound.")
    spoken: npt.NDArray[np.float32] = soxr.resample(wave, rate, RATE_HZ)
    return spoken
