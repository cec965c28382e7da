"""Draws random sounds to play while the box talks: real words, synthetic phrases, hums, noises,
television.

In: recordings, synthetic clips, a role (training, tuning, held-out) and a seeded generator. Out:
clips with class, word and origin. Two roles have no speaker, voice or room in common.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile, find
from appliance.pcm import RATE_HZ
from lab.sim import corpus, speech_source
from lab.sim.corpus import Role, role_of
from training.verdict import hums, noises
from training.verdict.perturb import perturbed
from training.verdict.voices import Said

Wave = npt.NDArray[np.float32]

# Of a hundred sounds. Real words are the most frequent, since synthetic ones cannot replace them.
MIX = {
    "backchannel, real": 18,
    "backchannel, said": 13,
    "backchannel, hummed": 8,
    "interruption, real": 24,
    "interruption, command": 4,
    "interruption, said": 14,
    "noise": 15,
    "television": 4,
}
# For separate shards: phrases that the first network confused most, in many more voices.
PHRASES = {
    "backchannel, real": 9,
    "backchannel, said": 28,
    "backchannel, hummed": 8,
    "interruption, real": 9,
    "interruption, said": 36,
    "noise": 6,
    "television": 4,
}
# Share of the real words from further recordings, which have few yes and right.
MORE_SHARE = {"backchannel": 0.08, "interruption": 0.3}
LEAD_S = 0.15  # most of the recording's noise that is kept before and after a word
LONGEST_S = 1.7
REAL_SIZES, SAID_SIZES = (0.86, 1.17), (0.78, 1.28)
# Words that all speakers recorded; they are drawn most often, as are yes and right.
COMMON = ("down", "go", "left", "no", "off", "on", "stop", "up")


@dataclass(frozen=True)
class Sound:
    """float32 mono at 16 kHz, peak 0.5; the sound is from `onset` to `end`, in samples.

    kind    backchannel, interruption or noise (a television is a noise)
    word    what is said, or the noise's name
    origin  real, said, hummed, noise, television
    """

    kind: str
    word: str
    origin: str
    who: str
    wave: Wave
    onset: int
    end: int


class SoundSource(Protocol):
    """What the renderers draw sounds from."""

    @property
    def role(self) -> Role: ...

    def next(self, chance: np.random.Generator) -> Sound:
        """The next sound to play over the box."""

    def talk(self, chance: np.random.Generator, seconds: float) -> Wave:
        """Continuous speech for the box to say, of at least that length."""


class Sounds:
    """All sounds of one role."""

    def __init__(
        self,
        role: Role,
        recordings: Path,
        more: Path | None,
        said: list[Said],
        mix: dict[str, int] = MIX,
    ) -> None:
        """`more`: further recordings, whose speakers are only used in training."""
        self.role = role
        self._mix = mix
        self._perturb = role == "training"
        self._real: dict[str, dict[str, list[RecordingFile]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for source in find(recordings / "words").sources:
            if role_of(source.speaker) == role:
                self._real[source.kind][source.word].append(source)
        self._commands = [
            s for s in find(recordings / "commands").sources if role_of(s.speaker) == role
        ]
        self._more: dict[str, list[RecordingFile]] = defaultdict(list)
        if more is not None and role == "training":
            for source in find(more).sources:
                self._more[source.kind].append(source)
        self._said: dict[str, list[Said]] = defaultdict(list)
        for each in said:
            variant = each.voice.split("+")[-1]
            if role == "held-out" or role_of(variant) == role:
                self._said[each.kind].append(each)
        self._clips: dict[Path, corpus.SoundClip | None] = {}

    def next(self, chance: np.random.Generator) -> Sound:
        names, weights = list(self._mix), np.array(list(self._mix.values()), float)
        while True:
            made = self._make(str(chance.choice(names, p=weights / weights.sum())), chance)
            if made is not None:
                return made

    def talk(self, chance: np.random.Generator, seconds: float) -> Wave:
        """Continuous synthetic speech of one voice, or of several if it has few clips."""
        pool = self._said["interruption"]
        voice = pool[int(chance.integers(len(pool)))].voice
        same = [s for s in pool if s.voice == voice]
        wave, frames = [], 0
        while frames < seconds * RATE_HZ:
            one = (same if len(same) > 3 else pool)[
                int(chance.integers(len(same) if len(same) > 3 else len(pool)))
            ]
            gap = np.zeros(int(chance.uniform(0.03, 0.35) * RATE_HZ), np.float32)
            wave += [one.wave, gap]
            frames += len(one.wave) + len(gap)
        return np.concatenate(wave)

    def _make(self, name: str, chance: np.random.Generator) -> Sound | None:
        kind, _, origin = name.partition(", ")
        if origin == "real":
            return self._recorded(self._word(kind, chance), chance)
        if origin == "command":
            return self._recorded(self._commands[int(chance.integers(len(self._commands)))], chance)
        if origin == "said":
            pool = self._said[kind]
            one = pool[int(chance.integers(len(pool)))]
            wave = perturbed(one.wave, chance, SAID_SIZES)
            return _sound(kind, one.text, "said", one.voice, wave)
        if origin == "hummed":
            word, wave = hums.hum(chance)
            return _sound(kind, word, "hummed", "", perturbed(wave, chance, (0.95, 1.05)))
        if name == "noise":
            word, wave = noises.noise(chance)
            return _sound("noise", word, "noise", "", wave)
        start = self.talk(chance, 1.2)
        return _sound("noise", "television", "television", "", start[: int(1.3 * RATE_HZ)])

    def _word(self, kind: str, chance: np.random.Generator) -> RecordingFile:
        if self._more[kind] and chance.random() < MORE_SHARE[kind]:
            pool = self._more[kind]
            return pool[int(chance.integers(len(pool)))]
        words = self._real[kind]
        common = [w for w in words if w in COMMON or kind == "backchannel"]
        pick = common if chance.random() < 0.75 else list(words)
        if kind == "backchannel":  # wow is rare: there are a hundred times as many yes and right
            pick = [w for w in pick if w != "wow" or chance.random() < 0.05] or ["yes", "right"]
        sources = words[str(chance.choice(pick))]
        return sources[int(chance.integers(len(sources)))]

    def _recorded(self, source: RecordingFile, chance: np.random.Generator) -> Sound | None:
        clip = self._clip(source)
        if clip is None:
            return None
        word = source.word if source.word != "commands" else "a command"
        if self.role != "training" or chance.random() < 0.4:  # the whole clip, as in the benches
            wave, onset, end = clip.samples, clip.onset, clip.end
        else:
            first = max(0, clip.onset - int(chance.uniform(0.02, LEAD_S) * RATE_HZ))
            last = min(len(clip.samples), clip.end + int(chance.uniform(0.02, LEAD_S) * RATE_HZ))
            wave, onset, end = clip.samples[first:last].copy(), clip.onset - first, clip.end - first
            _fade(wave)
        if self._perturb:
            scaled = perturbed(wave, chance, REAL_SIZES)
            ratio = len(scaled) / len(wave)
            wave, onset, end = scaled, int(onset * ratio), int(end * ratio)
        if source.word == "commands":
            end = min(end, onset + int(LONGEST_S * RATE_HZ))
            wave = wave[:end].copy()
        wave = wave * np.float32(0.5 / (np.abs(wave).max() or 1.0))
        return Sound(source.kind, word, "real", source.speaker, wave, onset, end)

    def _clip(self, source: RecordingFile) -> corpus.SoundClip | None:
        if source.path not in self._clips:
            try:
                self._clips[source.path] = corpus.load(source)
            except InterludeError:  # silent, clipped or only noise
                self._clips[source.path] = None
        return self._clips[source.path]


def _sound(kind: str, word: str, origin: str, who: str, wave: Wave) -> Sound:
    wave = wave[: int(LONGEST_S * RATE_HZ)]
    onset, end = speech_source.edges(wave)
    return Sound(kind, word, origin, who, wave, onset, end)


def _fade(wave: Wave) -> None:
    """Fade in and out, in place, so that the recording's noise does not start with a click."""
    frames = min(len(wave) // 4, RATE_HZ // 50)
    ramp = np.linspace(0, 1, frames, dtype=np.float32)
    wave[:frames] *= ramp
    wave[-frames:] *= ramp[::-1]
