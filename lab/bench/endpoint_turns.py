"""Makes turns for `bench endpoint`: complete sentences, and the same with a pause inside.

In: recordings of complete sentences, if any, and sentences for espeak-ng whose grammar shows
whether they are complete. Out: int16 at 16 kHz with the room's noise, and the place of the pause.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from appliance.pcm import RATE_HZ, Samples, to_int16
from lab.sim import acoustics, corpus
from lab.sim import synthetic_phrases as said

Wave = npt.NDArray[np.float64]

SENTENCES_FOLDER = "commands"  # folder of recordings of complete orders, not words
BEFORE_S, AFTER_S = 0.5, 2.2  # noise alone around the speech; no rule waits as long as AFTER_S
PAUSES_S = (0.2, 1.5)  # the shortest and the longest pause inside a sentence
SNRS_DB = (12.0, 20.0, 30.0)
LEVEL_DB = -26.0
_CUT_BETWEEN = (0.15, 0.88)  # range of the pause's place, as shares of a sentence
_QUIET_FRAMES, _APART_FRAMES = 480, 3200
_PLACES = 3  # candidate places in a recording, of which one is chosen at random
# The first part of each pair is no complete order; both parts together are one.
SENTENCES = (
    ("turn on the light in", "the kitchen"),
    ("what is the weather like in", "London tomorrow"),
    ("set a timer for", "ten minutes"),
    ("remind me to", "call my mother this evening"),
    ("tell me about the", "history of Rome"),
    ("play some music by", "the Beatles"),
    ("how many people live in", "Paris"),
    ("could you please close the", "window"),
    ("I would like to", "know what time it is"),
    ("add some milk and", "butter to the list"),
    ("wake me up at", "half past six"),
    ("what is the difference between", "a lake and a sea"),
)


@dataclass(frozen=True)
class Turn:
    """One turn of the owner.

    material  source of the speech: "recorded orders" or "espeak-ng sentences"
    samples   int16 at 16 kHz, with noise for BEFORE_S before the first word and AFTER_S at the end
    end       index after the last word
    pause     first sample of the pause inside the sentence and the first after it; None: no pause
    """

    material: str
    samples: Samples
    end: int
    pause: tuple[int, int] | None


def turns(sources: Sequence[RecordingFile], count: int, seed: int) -> Iterator[Turn]:
    """`count` sentences of each material, each without and with a pause.

    If there are fewer recordings, they are used again with another pause and other noise.
    """
    rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
    noises = _noises(sources)
    orders = [each for each in sources if each.word == SENTENCES_FOLDER]
    rng.shuffle(orders)
    waves = [wave for order in orders if (wave := _wave(order)) is not None]
    for number in range(count if waves else 0):
        wave = waves[number % len(waves)]
        cut = rng.choice(quiet_places(wave, _PLACES))
        yield from _both("recorded orders", wave, wave[:cut], wave[cut:], noises, rng)
    for number in range(count):
        first, rest = SENTENCES[number % len(SENTENCES)]
        voice = f"{rng.choice(said.ACCENTS)}+{rng.choice(said.HELD_OUT)}"
        how = (voice, rng.randrange(140, 190, 5), rng.randrange(30, 70, 5))
        parts = [(f"{first} {rest}", "."), (first, ","), (rest, ".")]
        whole, begun, ended = (_spoken(text, tune, *how) for text, tune in parts)
        yield from _both("espeak-ng sentences", whole, begun, ended, noises, rng)


def quiet_places(wave: Wave, count: int) -> list[int]:
    """Likely places of a pause in a sentence: the centres of the quietest 30 ms, 0.2 s apart."""
    energy = np.convolve(np.square(wave), np.ones(_QUIET_FRAMES), "same")
    low, high = (round(share * len(wave)) for share in _CUT_BETWEEN)
    places = []
    for _ in range(count):
        place = low + int(np.argmin(energy[low:high]))
        places.append(place)
        energy[max(0, place - _APART_FRAMES) : place + _APART_FRAMES] = np.inf
    return places


def _both(
    material: str, whole: Wave, first: Wave, rest: Wave, noises: list[Wave], rng: random.Random
) -> Iterator[Turn]:
    """The sentence without a pause, and with one of 0.2 to 1.5 s after its first part."""
    before = round(BEFORE_S * RATE_HZ)
    yield Turn(material, _in_room(whole, noises, rng), before + len(whole), None)
    # Log-uniform: as many pauses of 0.2 to 0.3 s as of 1.0 to 1.5 s, as short ones are more common.
    shortest, longest = np.log(PAUSES_S)
    frames = round(float(np.exp(rng.uniform(shortest, longest))) * RATE_HZ)
    joined = np.concatenate([first, np.zeros(frames), rest])
    pause = (before + len(first), before + len(first) + frames)
    yield Turn(material, _in_room(joined, noises, rng), before + len(joined), pause)


def _in_room(wave: Wave, noises: list[Wave], rng: random.Random) -> Samples:
    before, after = round(BEFORE_S * RATE_HZ), round(AFTER_S * RATE_HZ)
    sounding = wave[wave != 0]
    wave = wave * (32768 * 10 ** (LEVEL_DB / 20) / np.sqrt(np.mean(np.square(sounding))))
    out = np.concatenate([np.zeros(before), wave, np.zeros(after)])
    noise = rng.choice(noises)
    noise = np.take(noise, np.arange(len(out)) + rng.randrange(len(noise)), mode="wrap")
    gain = 10 ** ((LEVEL_DB - rng.choice(SNRS_DB)) / 20) * 32768
    return to_int16(out + noise * (gain / np.sqrt(np.mean(np.square(noise)))))


def _noises(sources: Sequence[RecordingFile]) -> list[Wave]:
    """The recordings of background noise, or else synthesised kitchen noise."""
    rooms = []
    for source in sources:
        if source.kind == "background":
            try:
                rooms.append(np.asarray(corpus.load(source).samples, np.float64))
            except InterludeError:
                continue
    frames = 30 * RATE_HZ
    return rooms or [
        acoustics.noise("kitchen", frames, level_db=LEVEL_DB, rate_hz=RATE_HZ).astype(np.float64)
    ]


def _wave(source: RecordingFile) -> Wave | None:
    try:
        clip = corpus.load(source)
    except InterludeError:
        return None  # silent or clipped
    return np.asarray(clip.samples[clip.onset : clip.end], np.float64)


def _spoken(text: str, tune: str, voice: str, speed: int, pitch: int) -> Wave:
    clip = said.spoken(said.Phrase("interruption", text, voice, speed, pitch, tune))
    return np.asarray(clip.samples[clip.onset : clip.end], np.float64)
