"""What the box says for hours in a bench: sentences by espeak-ng, at full volume, in six voices;
not by hibari, the box's own. Kept nowhere: a minute takes a fraction of a second to make."""

from __future__ import annotations

import random

import numpy as np

from appliance.pcm import RATE_HZ, Samples
from lab.bench.harness import TALK
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
PAUSE_S = (0.12, 0.4)  # between sentences


def talk(seconds: float, seed: int, voices: tuple[str, ...] = VOICES) -> Samples:
    """So many seconds of it, int16 at 16 kHz; the same seed gives the same."""
    rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
    sentences = [s.strip() + "." for s in (TALK + " " + MORE).split(".") if s.strip()]
    pieces: list[Samples] = []
    frames = 0
    while frames < seconds * RATE_HZ:
        voice = rng.choice(voices)
        speed, pitch = rng.randrange(145, 190, 5), rng.randrange(35, 65, 5)
        for sentence in rng.sample(sentences, 6):
            wave = speech_source.spoken(sentence, voice, speed, pitch)
            onset, end = speech_source.edges(wave)
            said = speech_source.scaled(wave[onset:end], 0, end - onset, FULL_SCALE_SPEECH_DB)
            gap = np.zeros(round(rng.uniform(*PAUSE_S) * RATE_HZ), np.int16)
            pieces += [said, gap]
            frames += len(said) + len(gap)
    whole: Samples = np.concatenate(pieces)[: round(seconds * RATE_HZ)]
    return whole
