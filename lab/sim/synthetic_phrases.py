"""Synthetic interjections by espeak-ng: backchannels and interruptions, without recordings.

A quarter of the voices' variants are held out for benches (`corpus.held_out`): training uses only
the others.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from appliance.hear.bargein.recordings import RecordingKind
from lab.sim import speech_source
from lab.sim.corpus import SoundClip, held_out

ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-029",
           "en-us-nyc")  # fmt: skip
# espeak-ng's variants that sound like a human voice, without the robot voices.
VARIANTS = tuple(
    """Alex Alicia Andrea Andy Annie Denis Diogo Gene Gene2 Henrique Hugo Jacky Lee Marco Mario
    Michael Mike Nguyen adam anika antonio aunty belinda benjamin boris caleb david ed edward
    edward2 f1 f2 f3 f4 f5 grandma grandpa gustave iven iven2 iven3 iven4 john kaukovalta klatt
    klatt2 klatt3 klatt5 linda m1 m2 m3 m4 m5 m6 m7 m8 marcelo max michel miguel norbert pablo paul
    pedro quincy rob robert sandro shelby steph steph2 steph3 travis victor zac""".split()
)
HELD_OUT = tuple(variant for variant in VARIANTS if held_out(variant))

BACKCHANNELS = (
    "mm-hm", "mm-hm", "mhm", "uh-huh", "uh-huh", "hm", "[[m:]]", "yeah", "yeah", "yes", "yep",
    "okay", "okay", "right", "right", "sure", "I see", "I see", "wow", "aha", "oh", "got it",
    "yeah yeah", "of course", "oh really",
)  # fmt: skip
INTERRUPTIONS = (
    "wait", "wait", "stop", "stop", "no", "no", "hold on", "hang on", "but", "actually",
    "excuse me", "be quiet", "never mind", "listen", "no no no", "one second", "that's enough",
    "stop it", "wait a minute", "what about the sea", "what about tomorrow", "can I ask something",
    "I have a question", "no that's wrong", "tell me about the moon instead", "turn it off",
    "what do you mean", "how far is that", "okay but why", "right but what about me",
)  # fmt: skip
QUESTIONS = (
    "tell me about the moon", "how is bread made", "tell me a story about the sea",
    "why is the sky blue in the morning", "what can you tell me about mountains",
)  # fmt: skip
REPEATS = (
    "pardon?", "pardon?", "sorry?", "sorry?", "say again?", "say that again.",
    "what did you say?", "what did you say?",
)  # fmt: skip
SPOKEN: dict[RecordingKind, tuple[str, ...]] = {
    "backchannel": BACKCHANNELS,
    "interruption": INTERRUPTIONS,
}
# In German; no training used these phrases or a German voice.
GERMAN: dict[RecordingKind, tuple[str, ...]] = {
    "backchannel": (
        "mm-hm", "mm-hm", "mhm", "hm", "aha", "ja", "ja", "ja ja", "okay", "okay", "genau",
        "genau", "stimmt", "richtig", "klar", "ach so", "verstehe", "gut", "wow", "toll", "na klar",
    ),
    "interruption": (
        "warte", "warte mal", "halt", "stopp", "stopp", "nein", "nein", "moment", "einen Moment",
        "entschuldigung", "aber", "eigentlich", "sei still", "sei ruhig", "hör auf", "schon gut",
        "vergiss es", "das reicht", "was ist mit dem Meer", "und morgen", "darf ich etwas fragen",
        "ich habe eine Frage", "nein das stimmt nicht", "erzähl mir lieber vom Mond",
        "mach das aus", "was meinst du damit", "wie weit ist das", "okay aber warum",
    ),
}  # fmt: skip
LANGUAGES = {"en": (ACCENTS, SPOKEN), "de": (("de",), GERMAN)}
CONTOURS = ("", ".", ",", "?", "!")  # intonation: level, falling, continuing, rising, raised
LENGTHENED = 0.62  # factor of the speed of a lengthened phrase, "yeeah"
LENGTHENED_SHARE = 0.2
SLOWEST = 80  # words a minute, espeak-ng's lower limit


@dataclass(frozen=True)
class Phrase:
    """A text and how espeak-ng speaks it: its name of the voice, words a minute, pitch 0 to 99."""

    kind: RecordingKind
    text: str
    voice: str
    speed: int
    pitch: int
    contour: str = ""

    @property
    def name(self) -> str:
        return f"{self.text}{self.contour} ({self.voice}, {self.speed}, {self.pitch})"


def phrase(
    kind: RecordingKind,
    rng: random.Random,
    variants: tuple[str, ...] = HELD_OUT,
    language: str = "en",
) -> Phrase:
    """A phrase with random words, accent, variant, speed, pitch and intonation. `language`: a key
    of LANGUAGES."""
    accents, texts = LANGUAGES[language]
    speed = rng.randrange(130, 215, 5)
    if rng.random() < LENGTHENED_SHARE:
        speed = max(SLOWEST, round(speed * LENGTHENED))
    voice = f"{rng.choice(accents)}+{rng.choice(variants)}"
    pitch = rng.randrange(20, 80, 5)
    return Phrase(kind, rng.choice(texts[kind]), voice, speed, pitch, rng.choice(CONTOURS))


def question(rng: random.Random, variants: tuple[str, ...] = HELD_OUT) -> Phrase:
    """A random question, for asking while the box is silent."""
    voice = f"{rng.choice(ACCENTS)}+{rng.choice(variants)}"
    text = rng.choice(QUESTIONS)
    return Phrase("interruption", text, voice, rng.randrange(140, 190, 5), rng.randrange(30, 70, 5))


def request_to_repeat(rng: random.Random, variants: tuple[str, ...] = HELD_OUT) -> Phrase:
    """A random request for the box's last sentence; no training used them."""
    voice = f"{rng.choice(ACCENTS)}+{rng.choice(variants)}"
    text = rng.choice(REPEATS)
    return Phrase("interruption", text, voice, rng.randrange(130, 215, 5), rng.randrange(20, 80, 5))


def spoken(utterance: Phrase) -> SoundClip:
    """The sound of a phrase. Raises SceneError if espeak-ng is missing or has no such voice."""
    wave = speech_source.spoken(
        utterance.text + utterance.contour, utterance.voice, utterance.speed, utterance.pitch
    )
    onset, end = speech_source.edges(wave)
    return SoundClip(wave, onset, end, clear=True)
