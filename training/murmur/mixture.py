"""Draws sounds for the rooms of training/verdict, half of each class in telephone band.

In: clips, a role, a seeded generator. Out: sounds. `Mixture` draws by shares of sources, for
training; `InTurn` plays each clip once, for tuning and the test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import soxr

from appliance.hear.bargein.recordings import RecordingKind
from appliance.pcm import RATE_HZ
from lab.sim import speech_source
from lab.sim.corpus import Role
from lab.sim.people import Clip, Floats
from training.verdict import noises
from training.verdict.perturb import perturbed
from training.verdict.sounds import Sound

# Of a hundred sounds of training, by class and source. People's murmurs of conversations are few
# and drawn often; the synthetic ones give breadth.
MIX: dict[tuple[RecordingKind, str], int] = {
    ("backchannel", "words"): 12,
    ("backchannel", "conversation"): 12,
    ("backchannel", "said"): 10,
    ("backchannel", "hummed"): 5,
    ("backchannel", "hibari"): 5,
    ("interruption", "words"): 15,
    ("interruption", "wake words"): 6,
    ("interruption", "orders"): 7,
    ("interruption", "conversation"): 8,
    ("interruption", "said"): 6,
    ("interruption", "hibari"): 3,
    ("noise", "noise"): 5,
    ("noise", "kitchens"): 4,
    ("noise", "television"): 2,
}
CONVERSATION = ("murmurs", "meetings", "calls", "talk")
SYNTHETIC = ("said", "hibari", "hummed")
NARROW_SHARE = 0.5
LAW_SHARE = 0.7  # of the narrow ones are in mu-law
CHANGED = 0.85  # of the training's clips are by another speaker, so to speak
REAL_SIZES, SYNTHETIC_SIZES = (0.86, 1.17), (0.78, 1.28)  # as in training/verdict
SHORTEST_S = 0.08
LONGEST_S = 1.5
LOW_HZ, HIGH_HZ = (200.0, 340.0), (3300.0, 3700.0)  # edges of a telephone's band, with its spread
LAW = 255.0  # of G.711's mu-law

# How `Sound.who` says what the reports need: group, recording, band.
NARROW, WIDE = "narrow", "wide"


@dataclass(frozen=True)
class Origin:
    """What a burst's `who` holds."""

    group: str
    recording: str
    narrow: bool

    @classmethod
    def of(cls, who: str) -> Origin:
        """The origin in a burst's `who`; a burst of no sound has none."""
        group, recording, band = [*who.split("|"), "", "", ""][:3]
        return cls(group, recording, band == NARROW)

    def __str__(self) -> str:
        return f"{self.group}|{self.recording}|{NARROW if self.narrow else WIDE}"


def telephone(wave: Floats, chance: np.random.Generator) -> Floats:
    """The sound over a telephone: 8 kHz, about 300 to 3400 Hz, mostly companded in 8 bits by
    mu-law (ITU-T G.711, its continuous form)."""
    low = np.asarray(soxr.resample(wave, RATE_HZ, 8000), np.float64)
    size = 1 << len(low).bit_length()
    hz = np.fft.rfftfreq(size, 1 / 8000)
    below, above = chance.uniform(*LOW_HZ), chance.uniform(*HIGH_HZ)
    # Butterworth's magnitude, third order below and tenth above.
    gain = 1 / np.sqrt((1 + (below / np.maximum(hz, 1.0)) ** 6) * (1 + (hz / above) ** 20))
    low = np.fft.irfft(np.fft.rfft(low, size) * gain, size)[: len(low)]
    low *= 0.5 / (np.abs(low).max() or 1.0)
    if chance.random() < LAW_SHARE:
        code = np.sign(low) * np.log1p(LAW * np.abs(low)) / np.log1p(LAW)
        code = np.round(code * 127) / 127
        low = np.sign(code) * np.expm1(np.abs(code) * np.log1p(LAW)) / LAW
    return np.asarray(soxr.resample(low, 8000, RATE_HZ), np.float32)


def sound_of(
    clip: Clip, chance: np.random.Generator, *, changed: bool, as_telephone: bool
) -> Sound | None:
    """The clip as a sound of the renderers; None if nothing of it is left."""
    wave, narrow = clip.wave, clip.narrow or as_telephone
    if changed:
        wave = perturbed(wave, chance, SYNTHETIC_SIZES if clip.source in SYNTHETIC else REAL_SIZES)
    if as_telephone and not clip.narrow:
        wave = telephone(wave, chance)
    wave = wave[: int(LONGEST_S * RATE_HZ)]
    wave = (wave * (0.5 / (np.abs(wave).max() or 1.0))).astype(np.float32)
    onset, end = speech_source.edges(wave)
    if end - onset < SHORTEST_S * RATE_HZ:
        return None
    origin = "noise" if clip.kind == "noise" else clip.source
    who = str(Origin(clip.group, clip.recording, narrow))
    return Sound(clip.kind, clip.word, origin, who, wave, onset, end)


def talk(clips: Sequence[Clip], chance: np.random.Generator, seconds: float) -> Floats:
    """Speech of synthetic voices for the box to say."""
    wave: list[Floats] = []
    while sum(map(len, wave)) < seconds * RATE_HZ:
        pause = np.zeros(int(chance.uniform(0.03, 0.35) * RATE_HZ), np.float32)
        wave += [clips[int(chance.integers(len(clips)))].wave, pause]
    return np.concatenate(wave)


class Mixture:
    """Sounds of training, drawn by `MIX`."""

    def __init__(self, clips: Sequence[Clip], role: Role = "training") -> None:
        self.role: Role = role
        self._by: dict[tuple[str, str], dict[str, list[Clip]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for clip in clips:
            if clip.role == role:
                source = "conversation" if clip.source in CONVERSATION else clip.source
                self._by[clip.kind, source][clip.who if source == "conversation" else ""].append(
                    clip
                )
        self._said = [clip for clip in clips if clip.source == "said" and clip.role == role
                      and clip.kind == "interruption"]  # fmt: skip
        self._names = [name for name in MIX if name in self._by or name[1] in MADE]
        shares = np.array([MIX[name] for name in self._names], float)
        self._shares = shares / shares.sum()

    def next(self, chance: np.random.Generator) -> Sound:
        while True:
            kind, source = self._names[int(chance.choice(len(self._names), p=self._shares))]
            as_telephone = bool(chance.random() < NARROW_SHARE)
            if source in MADE:
                word, wave = (
                    noises.noise(chance) if source == "noise"
                    else ("television", self.talk(chance, 1.2))
                )  # fmt: skip
                clip = Clip(kind, word, source, "", source, "", "ours", self.role,
                            wave[: int(LONGEST_S * RATE_HZ)], narrow=False)  # fmt: skip
                changed = False
            else:
                people = self._by[kind, source]  # a speaker first, then one of the speaker's clips
                pool = people[sorted(people)[int(chance.integers(len(people)))]]
                clip = pool[int(chance.integers(len(pool)))]
                changed = bool(chance.random() < CHANGED)
            made = sound_of(clip, chance, changed=changed, as_telephone=as_telephone)
            if made is not None:
                return made

    def talk(self, chance: np.random.Generator, seconds: float) -> Floats:
        return talk(self._said, chance, seconds)


MADE = ("noise", "television")  # sources that are made as they are drawn


class InTurn:
    """Each clip once, in an order by chance; every other one in telephone band."""

    def __init__(
        self, clips: Sequence[Clip], role: Role, said: Sequence[Clip], chance: np.random.Generator
    ) -> None:
        """`said`: synthetic speech for the box to say."""
        self.role: Role = role
        self._said = said
        first = int(chance.integers(2))
        made = [sound_of(clips[i], chance, changed=False, as_telephone=(first + turn) % 2 == 0)
                for turn, i in enumerate(chance.permutation(len(clips)))]  # fmt: skip
        self._sounds = [sound for sound in made if sound is not None]
        self.played = 0

    def __len__(self) -> int:
        return len(self._sounds)

    def next(self, chance: np.random.Generator) -> Sound:
        self.played += 1
        return self._sounds[(self.played - 1) % len(self._sounds)]

    def talk(self, chance: np.random.Generator, seconds: float) -> Floats:
        return talk(self._said, chance, seconds)
