"""Finds recordings in folders that are named after the class or word of their sounds.

In: a folder of `<class or word>/*.flac|wav`, at any depth. Out: the files, the class of each, and a
sentence for each that cannot be used. It does not decode them.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from appliance.audio import sound_file
from appliance.errors import InterludeError, RecordingError

RecordingKind = Literal["backchannel", "interruption", "noise", "television", "background"]

SUFFIXES = (".flac", ".wav")
# The class of a sound by its folder's name without case and punctuation. Any other name is a word
# that interrupts: to take an interruption for a backchannel is the worse error.
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
        ("noise", "background"),  # noises longer than BACKGROUND_S are background
    ),
    **dict.fromkeys("television tv radio long babble".split(), ("television",)),
    **dict.fromkeys("background ambience roomtone kitchen silence".split(), ("background",)),
    **dict.fromkeys("interruption interruptions commands".split(), ("interruption",)),
}
BACKGROUND_S = 5.0  # a longer noise is not a single event


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
    """Contents of a folder; `problems` are sentences about files that cannot be used."""

    sources: tuple[RecordingFile, ...]
    problems: tuple[str, ...]

    def of(self, *kinds: RecordingKind) -> tuple[RecordingFile, ...]:
        return tuple(source for source in self.sources if source.kind in kinds)


def kind_of(folder: str, seconds: float = 0.0) -> RecordingKind:
    """The class of a sound of that length in a folder of that name."""
    kinds = WORDS.get(_plain(folder), ("interruption",))
    return kinds[-1] if seconds > BACKGROUND_S else kinds[0]


def find(folder: Path) -> CorpusListing:
    """List all recordings below `folder`, in order of their names, without decoding them.

    Raises RecordingError for a folder that does not exist or contains no sound.
    """
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "there is no such folder"
        raise RecordingError(f"{folder}: {problem}.", "Name another one, or none.")
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
                seconds = sound_file.duration_s(path)
            except InterludeError as error:
                problems.append(str(error))
                continue
            sources.append(RecordingFile(path, kind_of(here.name, seconds), here.name))
    if not sources:
        reason = f" {problems[0]}" if problems else ""
        raise RecordingError(f"{folder}: holds no FLAC or WAV file that can be used.{reason}",
                          "Sounds lie in folders <class or word>.")  # fmt: skip
    return CorpusListing(tuple(sources), tuple(problems))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


assert {kind for kinds in WORDS.values() for kind in kinds} == set(get_args(RecordingKind))
