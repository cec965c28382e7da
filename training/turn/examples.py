"""Training examples of the turn head: sounds that end in a pause, and whether the turn is over.

In: recordings of speakers and espeak-ng voices that no bench uses. Out: int16 at 16 kHz with noise,
up to the moment at which the judge is asked. Half of them start with other speech, so that the
length does not predict the class.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from appliance.pcm import RATE_HZ, Samples, to_int16
from lab.bench.endpoint_turns import SENTENCES_FOLDER, Wave, quiet_places
from lab.sim import corpus
from lab.sim import synthetic_phrases as said
from lab.sim.corpus import held_out

# Examples: of each complete order, of parts of it, of single words in all, of espeak-ng in all.
WHOLE, CUTS, WORDS, SPOKEN = 3, 4, 250, 360
QUESTIONS_MS = (200, 200, 300, 500)  # silence at which the judge is asked
SNRS_DB = (10.0, 15.0, 20.0, 30.0)
LEVELS_DB = (-32.0, -20.0)
# The first part of a pair cannot be the end of an order. None is in the bench.
PAIRS = (
    ("open the window in", "the bedroom"),
    ("what time does the", "train leave"),
    ("how do I get to", "the station"),
    ("please turn the volume", "down a little"),
    ("call me when the", "washing is done"),
    ("put some bread on", "the shopping list"),
    ("who was the first", "man on the moon"),
    ("read me the", "news of today"),
    ("is it going to", "rain this afternoon"),
    ("start the coffee machine at", "seven"),
    ("how far is it to", "the sea"),
    ("switch off all the", "lights upstairs"),
    ("make the living room", "a bit warmer"),
    ("when is my next", "appointment"),
    ("can you explain how", "bread is made"),
    ("stop the", "music"),
    ("cancel my", "alarm"),
    ("give me a recipe with", "onions and rice"),
    ("what is seven times", "eight"),
    ("tell my wife that", "I am late"),
)


@dataclass(frozen=True)
class Example:
    """`group`: the speaker or the sentence; a fold of the cross-validation has complete groups."""

    material: str
    group: str
    samples: Samples
    over: bool


def examples(sources: Sequence[RecordingFile], seed: int) -> Iterator[Example]:
    """All examples, in the same order for the same seed. `sources`: training speakers only."""
    rng = random.Random(seed)
    rooms = [
        wave for each in sources if each.kind == "background" and (wave := _wave(each)) is not None
    ]
    orders = [(each.speaker, wave) for each in sources
              if each.word == SENTENCES_FOLDER and (wave := _wave(each)) is not None]  # fmt: skip
    spoken = ("interruption", "backchannel")
    words = [each for each in sources if each.kind in spoken and each.word != SENTENCES_FOLDER]
    rng.shuffle(words)

    def example(material: str, group: str, wave: Wave, over: bool) -> Example:
        before = rng.choice(orders)[1] if orders and rng.random() < 0.5 else None
        return Example(material, group, _in_room(wave, before, rooms, rng), over)

    for speaker, wave in orders:
        for _ in range(WHOLE):
            yield example("orders", speaker, wave, True)
        for cut in quiet_places(wave, CUTS):
            yield example("orders", speaker, wave[:cut], False)
    for word in words[:WORDS]:
        if (lone := _wave(word)) is not None:
            yield example("words", word.speaker, lone, True)
    voices = [variant for variant in said.VARIANTS if not held_out(variant)]
    for number in range(SPOKEN):
        first, rest = PAIRS[number % len(PAIRS)]
        voice = f"{rng.choice(said.ACCENTS)}+{rng.choice(voices)}"
        how = (voice, rng.randrange(140, 190, 5), rng.randrange(30, 70, 5))
        whole = _spoken(f"{first} {rest}", rng.choice((".", ".", "?", "")), *how)
        yield example("espeak-ng", first, whole, True)
        part = (
            _spoken(first, rng.choice((",", "")), *how)
            if number % 2
            else whole[: rng.choice(quiet_places(whole, 2))]
        )
        yield example("espeak-ng", first, part, False)


def _in_room(wave: Wave, before: Wave | None, rooms: list[Wave], rng: random.Random) -> Samples:
    """The wave with 0.3 to 0.5 s of lead, maybe other speech, a pause, noise and a random level."""
    wave = _loudness_one(wave)
    if before is not None:
        gap = np.zeros(round(rng.uniform(0.25, 0.7) * RATE_HZ))
        wave = np.concatenate([_loudness_one(before), gap, wave])
    lead = np.zeros(round(rng.uniform(0.3, 0.5) * RATE_HZ))
    pause = np.zeros(rng.choice(QUESTIONS_MS) * RATE_HZ // 1000)
    out = np.concatenate([lead, wave, pause])
    if rooms:
        room = rng.choice(rooms)
        noise = np.take(room, np.arange(len(out)) + rng.randrange(len(room)), mode="wrap")
        out = out + _loudness_one(noise) * 10 ** (-rng.choice(SNRS_DB) / 20)
    return to_int16(out * 32768 * 10 ** (rng.uniform(*LEVELS_DB) / 20))


def _loudness_one(wave: Wave) -> Wave:
    scaled: Wave = wave / np.sqrt(np.mean(np.square(wave)))
    return scaled


def _wave(source: RecordingFile) -> Wave | None:
    try:
        clip = corpus.load(source)
    except InterludeError:
        return None  # silent or clipped
    return np.asarray(clip.samples[clip.onset : clip.end], np.float64)


def _spoken(text: str, tune: str, voice: str, speed: int, pitch: int) -> Wave:
    clip = said.spoken(said.Phrase("interruption", text, voice, speed, pitch, tune))
    return np.asarray(clip.samples[clip.onset : clip.end], np.float64)
