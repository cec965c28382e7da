"""Loads every labelled sound of people and homes: murmurs, calls, noises.

In: the folder `shared` beside the checkout. Out: clips, all cut in one way to their sound, with
speaker, recording, licence, role and whether they are telephone-band. Which role a clip has is
decided in `division.py` alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

from appliance.audio.sound_file import read_sound
from appliance.hear.bargein.recordings import RecordingFile, RecordingKind, find
from appliance.pcm import RATE_HZ, level_db
from lab.sim import corpus
from lab.sim.corpus import Role
from lab.sim.division import part_of, talker_murmurs, undecided

SHARED = Path(__file__).resolve().parents[3] / "shared"  # as in tests/skips.py
CC_BY, APACHE, MIT, OWN = "CC BY 4.0", "Apache-2.0", "MIT", "ours"
MURMURED = ("yes", "right", "wow")  # words of Speech Commands that are murmurs
MARGIN_MS, FADE_MS = 30, 10
LONGEST_S = 1.2  # the longest age that is asked about, and some reverberation
SHORTEST_S = 0.1
PAUSE_S = 0.2  # quiet that ends a murmur, and that a start of talk has before it
QUIET_DB = 26.0  # below a sound's loudest 20 ms: a pause
STARTS = 4  # of talk within one order
LEAK_DB = 3.0  # a talker's microphone is at least so much louder than the other person's
NOISES = 12  # clips of one recording of noise, at its loudest places
NARROW_HZ, NARROW_DB = 3800.0, -50.0  # telephone-band: no more than this above
STEP = RATE_HZ // 50  # 20 ms

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Clip:
    """float32 mono at 16 kHz, cut to its sound with faded margins, peak 0.5.

    kind       backchannel, interruption or noise
    source     words, orders, wake words, murmurs, meetings, calls, talk, kitchens, said, hibari
    who        speaker, or the smallest known group with one
    group      what stays in one role with it, and in one draw of an interval
    narrow     recorded in telephone band
    """

    kind: RecordingKind
    word: str
    source: str
    who: str
    group: str
    recording: str
    licence: str
    role: Role
    wave: Floats
    narrow: bool

    @property
    def name(self) -> str:
        return f"{self.source}/{self.recording} {self.word}"


@dataclass(frozen=True)
class Moment:
    """A moment of a conversation, at its own level.

    channels  float32 (2, frames) at 16 kHz; 0: who murmurs or takes the floor, 1: who talks
    onset     the sample of channel 0 at which that begins
    expected  whether channel 1 should give way (`yield`), and by when, in the words of hotato
    """

    source: str
    who: str
    recording: str
    licence: str
    channels: Floats
    onset: int
    expected: dict[str, Any]

    @property
    def kind(self) -> RecordingKind:
        return "interruption" if self.expected["yield"] else "backchannel"

    @property
    def name(self) -> str:
        return f"{self.source}/{self.recording}"

    @property
    def voice(self) -> Floats:
        """Channel 0 from its onset on, silent before: there a headset has mostly the talker."""
        wave, begin = self.channels[0].copy(), max(0, self.onset - MARGIN_MS * RATE_HZ // 1000)
        fade = FADE_MS * RATE_HZ // 1000
        wave[:begin] = 0
        wave[begin : begin + fade] *= np.linspace(0, 1, fade, dtype=np.float32)
        voice: Floats = wave
        return voice

    @property
    def end(self) -> int:
        """The end of the first sound of channel 0, or `LONGEST_S` after its onset."""
        return min(stop(self.channels[0], self.onset), self.onset + int(LONGEST_S * RATE_HZ))


def moments(shared: Path = SHARED) -> list[Moment]:
    """All moments of calls and meetings; none without the folder."""
    found = []
    for path in sorted((shared / "conversations" / "moments").glob("*/*.json")):
        about, source = json.loads(path.read_text(encoding="utf-8")), path.parent.name
        meeting = source == "meetings"
        channels = soundfile.read(path.with_suffix(".flac"), dtype="float32")[0].T
        found.append(
            Moment(source, path.stem.split("-")[1] if meeting else "vapi", path.stem,
                   CC_BY if meeting else MIT, channels,
                   int(about["caller_onset_sec"] * RATE_HZ), about["expected"])
        )  # fmt: skip
    return found


def recorded(shared: Path = SHARED) -> list[Clip]:
    """All clips of people and of real noises. Raises RecordingError for a folder that is missing or
    a name without a row in `division.yaml`."""
    conversations, recordings = shared / "conversations", shared / "recordings"
    made = [*_words(recordings / "words"), *_orders(recordings / "commands")]
    made += [*_wake_words(conversations / "wake_words"), *_murmurs(conversations / "murmurs")]
    made += [*_moments(shared), *_long(recordings / "long")]
    noises = [*sorted((conversations / "household").glob("*.flac")),
              recordings / "noise" / "kitchen.flac"]  # fmt: skip
    return made + [clip for path in noises for clip in _noises(path)]


def cut(wave: Floats, begin: int, end: int) -> Floats | None:
    """The sound from `begin` to `end` with faded margins, peak 0.5; None if it is too short or
    silent. Clips of all classes are cut here, so that a cut tells nothing of the class."""
    margin, fade = MARGIN_MS * RATE_HZ // 1000, FADE_MS * RATE_HZ // 1000
    end = min(end, begin + int(LONGEST_S * RATE_HZ))
    part = wave[max(0, begin - margin) : end + margin].astype(np.float32).copy()
    if end - begin < SHORTEST_S * RATE_HZ or not part.any():
        return None
    ramp = np.linspace(0, 1, fade, dtype=np.float32)
    part[:fade] *= ramp
    part[-fade:] *= ramp[::-1]
    return part * np.float32(0.5 / np.abs(part).max())


def narrow(wave: Floats) -> bool:
    """Whether the sound has nothing above the band of a telephone."""
    power = np.abs(np.fft.rfft(wave)) ** 2
    hz = np.fft.rfftfreq(len(wave), 1 / RATE_HZ)
    above, below = power[hz >= NARROW_HZ].sum(), power[hz < NARROW_HZ].sum()
    return bool(above <= below * 10 ** (NARROW_DB / 10))


def levels(wave: Floats) -> npt.NDArray[np.float64]:
    """dBFS of each 20 ms."""
    steps = wave[: len(wave) // STEP * STEP].reshape(-1, STEP)
    return np.array([level_db(step, 1e-10) for step in steps])


def starts(wave: Floats) -> list[int]:
    """Samples, exact to 20 ms, at which a sound starts after a pause of 200 ms; three of its next
    four steps of 20 ms are as loud, so a click is none."""
    loud_db = levels(wave)
    active = loud_db > np.percentile(loud_db, 95) - QUIET_DB
    pause = round(PAUSE_S * RATE_HZ / STEP)
    return [
        i * STEP
        for i in range(pause, len(active) - 4)
        if active[i] and not active[i - pause : i].any() and active[i + 1 : i + 5].sum() >= 3
    ]


def stop(wave: Floats, begin: int) -> int:
    """The sample after `begin` from which 200 ms are quiet; else the end."""
    loud_db = levels(wave[begin : begin + 2 * RATE_HZ])
    pause = round(PAUSE_S * RATE_HZ / STEP)
    quiet = loud_db < loud_db[: RATE_HZ // 2 // STEP].max() - QUIET_DB
    for i in range(2, len(quiet) - pause):
        if quiet[i : i + pause].all():
            return begin + i * STEP
    return len(wave)


def _clip(
    kind: RecordingKind, word: str, source: str, who: str, path: Path, licence: str, wave: Floats,
    span: tuple[int, int], part: str = "",
) -> Iterator[Clip]:  # fmt: skip
    """One clip, or none if the sound is too short. `part`: the name in `division.yaml` (`who`)."""
    found = cut(wave, *span)
    if found is not None:
        role, group = part_of(_divided(source), part or who)
        yield Clip(kind, word, source, who, f"{_divided(source)} {group}", path.stem, licence, role,
                   found, narrow(found))  # fmt: skip


def _divided(source: str) -> str:
    return "meetings" if source == "murmurs" else source


def _whole(path: Path) -> tuple[Floats, tuple[int, int]] | None:
    """The sound of a file and its edges; None if nothing in it is louder than its noise."""
    clip = corpus.with_edges(read_sound(path))
    return None if clip is None else (clip.samples, (clip.onset, clip.end))


def _words(folder: Path) -> Iterator[Clip]:
    for source in find(folder).sources:
        kind: RecordingKind = "backchannel" if source.word in MURMURED else "interruption"
        yield from _one(source, kind, source.word, "words", CC_BY)


def _one(
    source: RecordingFile, kind: RecordingKind, word: str, name: str, licence: str
) -> Iterator[Clip]:
    if (found := _whole(source.path)) is not None:
        wave, span = found
        yield from _clip(kind, word, name, source.speaker, source.path, licence, wave, span)


def _orders(folder: Path) -> Iterator[Clip]:
    """The start of each order, and the starts of words after a pause within it."""
    for source in find(folder).sources:
        yield from _one(source, "interruption", "an order", "orders", APACHE)
        wave = read_sound(source.path)
        for at in starts(wave)[1 : STARTS + 1]:
            yield from _clip("interruption", "within an order", "orders", source.speaker,
                             source.path, APACHE, wave, (at, len(wave)))  # fmt: skip


def _wake_words(folder: Path) -> Iterator[Clip]:
    for path in sorted(folder.glob("*/*.flac")):
        phrase = path.parent.name
        if (found := _whole(path)) is not None:
            yield from _clip("interruption", phrase, "wake words", f"{phrase} {path.stem}", path,
                             APACHE, *found, part=phrase)  # fmt: skip


def _murmurs(folder: Path) -> Iterator[Clip]:
    for path in sorted(folder.glob("*/*.flac")):
        found = _whole(path)
        if found is not None and not undecided(path.stem):
            who = path.stem.split("_")[0]
            yield from _clip("backchannel", path.parent.name, "murmurs", who, path, CC_BY, *found)


def _moments(shared: Path) -> Iterator[Clip]:
    """The moments themselves, and starts of talk of the other person in meetings."""
    for moment in moments(shared):
        source, who, name = moment.source, moment.who, moment.recording
        begin, wave, sound = moment.onset, moment.channels[0], Path(name)
        if not undecided(name):
            end = len(wave) if moment.kind == "interruption" else stop(wave, begin)
            word = name.split("-", 2)[2]
            yield from _clip(moment.kind, word, source, who, sound, moment.licence, wave,
                             (begin, end))  # fmt: skip
        if source == "meetings" and not talker_murmurs(name):
            wave = moment.channels[1]
            for at in starts(wave):
                if not _leaked(moment.channels[:, at : at + RATE_HZ * 3 // 10]):
                    yield from _clip("interruption", "talk", source, f"{who} talker", sound,
                                     moment.licence, wave, (at, len(wave)), part=who)  # fmt: skip


def _leaked(channels: Floats) -> bool:
    """Whether what starts in channel 1 is the other person's voice, which channel 0 has louder:
    that may be a murmur."""
    other_db, own_db = (levels(channel).max() for channel in channels)
    return bool(own_db < other_db + LEAK_DB)


def _long(folder: Path) -> Iterator[Clip]:
    for path in sorted(folder.glob("*.flac")):
        wave, licence = read_sound(path), "public domain" if path.stem == "jfk" else MIT
        for at in starts(wave):
            yield from _clip("interruption", "talk", "talk", path.stem, path, licence, wave,
                             (at, len(wave)))  # fmt: skip


def _noises(path: Path) -> Iterator[Clip]:
    """The loudest seconds of a recording, each 1.5 s or more from the others."""
    wave = read_sound(path)
    loud_db, taken = levels(wave), np.zeros(len(wave), bool)
    licence = APACHE if path.stem == "kitchen" else "CC0 or MIT"
    left = min(NOISES, len(wave) // (3 * RATE_HZ))
    for step in np.argsort(-loud_db):
        begin = max(0, int(step) * STEP - RATE_HZ // 20)
        if not left:
            return
        if not taken[begin] and begin + RATE_HZ <= len(wave):
            taken[max(0, begin - 3 * RATE_HZ // 2) : begin + 3 * RATE_HZ // 2] = True
            left -= 1
            yield from _clip("noise", path.stem, "kitchens", path.stem, path, licence, wave,
                             (begin, begin + RATE_HZ))  # fmt: skip
