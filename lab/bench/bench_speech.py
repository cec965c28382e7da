"""Synthesises hours of the box's speech for a bench, at full volume, by the voice of the settings.

A minute takes about a second to synthesise, and is not stored.
"""

from __future__ import annotations

import functools
import random
from contextlib import closing

import msgspec
import numpy as np
import numpy.typing as npt

from appliance.pcm import RATE_HZ, Samples, to_float
from appliance.settings import Settings
from appliance.voice import factory
from appliance.voice.espeak import EspeakVoice
from appliance.voice.program import ProgramVoice
from lab.bench.harness import TALK
from lab.bench.voice_runs import say, wait_until_ready
from lab.sim import speech_source
from lab.sim.acoustics import FULL_SCALE_SPEECH_DB

VOICES = ("en-us", "en-gb", "en-us+m3", "en-gb-scotland+m5", "en-us+f4", "en-gb-x-rp")
MORE = (
    "Tomorrow will be dry at first, with some rain along the coast in the evening. "
    "The train to the city leaves at ten past eight from platform three. "
    "Put the flour into a large bowl, make a well in the middle, and add two eggs. "
    "There are three timers running: pasta, eggs, and the one without a name. "
    "Stop me whenever you like. "
    "Yes, the museum is open until six, but the last tickets are sold at five. "
    "In the year eighteen hundred and fifty one the great exhibition opened its doors. "
    "I have turned off the lights in the kitchen, the hall, and the bedroom. "
    "No, wait for the water to boil before you add the salt. "
    "Whales sleep with one half of the brain at a time, so that they can go on breathing. "
    "The next song is one that you have asked for quite often this week. "
    "A litre of milk, a loaf of bread, six apples, butter, and something for the cat. "
)
SENTENCES = tuple(s.strip() + "." for s in (TALK + " " + MORE).split(".") if s.strip())
SENTENCES_A_PIECE = 6  # by one voice at one pace, before both change
PAUSE_S = (0.12, 0.4)  # between sentences
PACES = (145, 165, 185)  # words a minute, for voices other than espeak-ng
Floats = npt.NDArray[np.float32]


def name_of(settings: Settings) -> str:
    """The voice that a box with these settings uses. Raises VoiceError if it is not installed."""
    return factory.candidates(settings)[0]


def synthesised(settings: Settings, text: str) -> Samples:
    """`text` by that voice, at full volume, int16 at 16 kHz. Raises VoiceError."""
    with closing(factory.open_voice(settings, name_of(settings))) as voice:
        wait_until_ready(voice)
        return _levelled(to_float(say(voice, text).sound))


def talk(
    settings: Settings, seconds: float, seed: int, sentences: tuple[str, ...] = SENTENCES
) -> Samples:
    """`seconds` of `sentences` (six or more) by that voice, int16 at 16 kHz; the same seed gives
    the same ones at the same paces. For espeak-ng: `espeak_talk`. Raises VoiceError if the voice
    cannot speak."""
    name = name_of(settings)
    if name == EspeakVoice.name:
        return espeak_talk(seconds, seed, sentences=sentences)
    commands = [factory.commands(_pace(settings, pace))[name] for pace in PACES]
    rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
    pieces: list[Samples] = []
    frames = 0
    while frames < seconds * RATE_HZ:
        sounds = _synthesised(name, rng.choice(commands), sentences)
        for sentence in rng.sample(sentences, SENTENCES_A_PIECE):
            pieces += [sounds[sentence], _gap(rng)]
            frames += len(pieces[-2]) + len(pieces[-1])
    speech: Samples = np.concatenate(pieces)[: round(seconds * RATE_HZ)]
    return speech


def espeak_talk(
    seconds: float,
    seed: int,
    voices: tuple[str, ...] = VOICES,
    sentences: tuple[str, ...] = SENTENCES,
) -> Samples:
    """The same sentences by espeak-ng, in `voices`, at random paces and pitches."""
    rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
    pieces: list[Samples] = []
    frames = 0
    while frames < seconds * RATE_HZ:
        voice = rng.choice(voices)
        speed, pitch = rng.randrange(145, 190, 5), rng.randrange(35, 65, 5)
        for sentence in rng.sample(sentences, SENTENCES_A_PIECE):
            pieces += [
                _levelled(speech_source.spoken(sentence, voice, speed, pitch)),
                _gap(rng),
            ]
            frames += len(pieces[-2]) + len(pieces[-1])
    speech: Samples = np.concatenate(pieces)[: round(seconds * RATE_HZ)]
    return speech


def _gap(rng: random.Random) -> Samples:
    return np.zeros(round(rng.uniform(*PAUSE_S) * RATE_HZ), np.int16)


def _levelled(wave: Floats) -> Samples:
    onset, end = speech_source.edges(wave)
    return speech_source.scaled(wave[onset:end], 0, end - onset, FULL_SCALE_SPEECH_DB)


def _pace(settings: Settings, words_per_minute: int) -> Settings:
    speaking = msgspec.structs.replace(settings.speaking, words_per_minute=words_per_minute)
    return msgspec.structs.replace(settings, speaking=speaking)


@functools.lru_cache(maxsize=2 * len(PACES))
def _synthesised(
    name: str, command: tuple[str, ...], sentences: tuple[str, ...]
) -> dict[str, Samples]:
    with closing(ProgramVoice(name, command)) as voice:
        wait_until_ready(voice)
        return {text: _levelled(to_float(say(voice, text).sound)) for text in sentences}
