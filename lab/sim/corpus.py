"""Recordings in folders that say what they are: which to use, and each as a clip with its onset.

In: a folder of `<class or word>/*.flac|wav`, at any depth. Out: sources, clips, and one sentence
for each thing that could not be used. Training and benches read recordings here and nowhere else,
so that none is in both (`held_out`).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from appliance.errors import InterludeError
from appliance.pcm import RATE_HZ, Samples
from lab.sim import speech_source

RecordingKind = Literal["backchannel", "interruption", "noise", "television", "background"]
Speakers = Literal["held-out", "training", "all"]
Floats = npt.NDArray[np.float32]

SUFFIXES = (".flac", ".wav")
# What a folder's name makes of the sounds in it, without case and punctuation. A name that is not
# here is a word, and any other word is an interruption: talking over the owner is worse.
WORDS: dict[str, tuple[RecordingKind, ...]] = {
    **dict.fromkeys(
        """backchannel backchannels acknowledgement acknowledgements yes right yeah yep yup okay ok
        mm mhm mmhm mmhmm mmm hm hmm uhhuh uhuh aha ah oh sure isee wow really exactly indeed
        true""".split(),
        ("backchannel",),
    ),
    **dict.fromkeys(
        """noise noises cough coughs coughing sneeze sneezes sneezing sniff throat throatclearing
        breath breathing sigh sighs laugh laughs laughing laughter giggle hiccup snoring whistle
        whistling clap claps clapping applause click clicks clicking mouseclick keyboard
        keyboardtyping typing knock knocks knocking door doorknock doorwoodknock doorslam doorbell
        footstep footsteps clatter crash bang thud glassbreaking dishes cutlery pouring vacuum
        vacuumcleaner blender microwave washingmachine dishwasher clockalarm clocktick siren
        ringtone barking meow crying cryingbaby traffic carhorn music""".split(),
        ("noise", "background"),  # long ones are what a room sounds like all the time
    ),
    **dict.fromkeys("television tv radio long babble".split(), ("television",)),
    **dict.fromkeys("background ambience roomtone kitchen silence".split(), ("background",)),
    **dict.fromkeys("interruption interruptions commands".split(), ("interruption",)),
}
BACKGROUND_S = 5.0  # a noise that lasts longer is no event
SHORTEST_S = 0.08
SILENT_PEAK = 10 ** (-60 / 20)
CLIPPED_SHARE = 0.01  # of samples at full scale
CLEAR_MS = 20  # before the onset, quiet: the onset of such a clip is known to the sample
CLEAR_DB = -38.0  # of that quiet against the sound's own loudness
_STEP = 80  # 5 ms
_OVER_FLOOR_DB, _UNDER_PEAK_DB = 10.0, 30.0  # where a sound begins in a clip with noise of its own


class CorpusError(InterludeError, ValueError):
    """Recordings that cannot be used."""

    exit_code = 66  # EX_NOINPUT


@dataclass(frozen=True)
class RecordingFile:
    """One file. `word`: its folder's name; `speaker`: the file's name up to the first `_`."""

    path: Path
    kind: RecordingKind
    word: str

    @property
    def speaker(self) -> str:
        return self.path.stem.split("_")[0]

    @property
    def name(self) -> str:
        return f"{self.word}/{self.path.stem}"


@dataclass(frozen=True)
class CorpusListing:
    """What a folder holds; `problems` are sentences about what of it cannot be used."""

    folder: Path
    sources: tuple[RecordingFile, ...]
    problems: tuple[str, ...]

    def of(self, *kinds: RecordingKind) -> tuple[RecordingFile, ...]:
        return tuple(source for source in self.sources if source.kind in kinds)


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


def kind_of(folder: str, seconds: float = 0.0) -> RecordingKind:
    """The class of a sound of that length in a folder of that name."""
    kinds = WORDS.get(_plain(folder), ("interruption",))
    return kinds[-1] if seconds > BACKGROUND_S else kinds[0]


def find(folder: Path) -> CorpusListing:
    """All recordings under `folder`, in order of their names; none is decoded yet.

    Raises CorpusError for a folder that is not there or holds no sound at all.
    """
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "there is no such folder"
        raise CorpusError(f"{folder}: {problem}.", "Name one with --recordings, or none.")
    sources: list[RecordingFile] = []
    problems: list[str] = []

    def unreadable(error: OSError) -> None:
        problems.append(f"{error.filename}: cannot be read ({error.strerror}).")

    for where, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = Path(where)
        sounds = sorted(f for f in files if f.lower().endswith(SUFFIXES) and not f.startswith("."))
        if sounds and here == folder and _plain(folder.name) not in WORDS:
            problems.append(f"{folder}: {len(sounds)} sounds lie in no folder of a class or word; "
                            "they were left out.")  # fmt: skip
            continue
        for name in sounds:
            path = here / name
            try:
                seconds = speech_source.seconds(path)
            except InterludeError as error:
                problems.append(str(error))
                continue
            sources.append(RecordingFile(path, kind_of(here.name, seconds), here.name))
    if not sources:
        reason = f" {problems[0]}" if problems else ""
        raise CorpusError(f"{folder}: holds no FLAC or WAV file that can be used.{reason}",
                          "Sounds lie in folders <class or word>.")  # fmt: skip
    return CorpusListing(folder, tuple(sources), tuple(problems))


def load(source: RecordingFile) -> SoundClip:
    """The sound in a file. Raises CorpusError or SceneError, in one sentence, if it is none, or
    too short, silent, clipped, or noise from end to end in which nothing stands out."""
    wave = speech_source.read_sound(source.path)
    if not np.isfinite(wave).all():
        raise CorpusError(f"{source.path}: holds samples that are no numbers.")
    if len(wave) < SHORTEST_S * RATE_HZ:
        raise CorpusError(f"{source.path}: is too short ({1000 * len(wave) / RATE_HZ:.0f} ms).")
    loudness = np.abs(wave)
    if loudness.max() < SILENT_PEAK:
        raise CorpusError(f"{source.path}: is silent.")
    if np.mean(loudness > 0.999) > CLIPPED_SHARE:
        raise CorpusError(f"{source.path}: is clipped.")
    if source.kind in ("television", "background"):
        return SoundClip(wave, 0, len(wave), clear=False)
    clip = with_edges(wave)
    if clip is None:
        raise CorpusError(f"{source.path}: nothing stands out of its noise.")
    return clip


def with_edges(wave: Floats) -> SoundClip | None:
    """Where the sound in `wave` begins and ends; None if nothing stands out of its own noise."""
    onset, end = speech_source.edges(wave)
    if onset >= CLEAR_MS * RATE_HZ // 1000:
        before_db = _db(wave[:onset]) - _db(wave[onset:end])
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


def _db(samples: Floats) -> float:
    """Mean energy, dB full scale; −120 for none."""
    return float(10 * np.log10(np.mean(np.square(samples)) + 1e-12)) if len(samples) else -120.0


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


assert {kind for kinds in WORDS.values() for kind in kinds} == set(get_args(RecordingKind))
