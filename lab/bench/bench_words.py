"""Supplies interrupting words for a bench: synthetic by espeak-ng, and recorded from a folder.

Both are endless, shuffled and seeded: the same seed gives the same words in the same order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from appliance.audio import sound_file
from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from appliance.pcm import RATE_HZ, level_db, to_float
from lab.sim import script_sounds, speech_source
from lab.sim.corpus import load
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.speech_source import SPEECH_DB, OwnerSound

SPOKEN = (
    "stop", "wait", "no", "hold on", "excuse me", "what about the sea", "never mind", "hey",
    "tell me about the moon instead", "actually", "listen", "thank you", "five", "please stop",
)  # fmt: skip
VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-us+f2", "en-us+f4", "en-us+m3", "en-gb+f3",
          "en-gb-x-rp", "en-us+m7", "en-gb+m1")  # fmt: skip
WORD_S = 2.0  # a longer clip is a sentence, which takes longer and gives no more information
NOISY_FRAMES = RATE_HZ // 50  # an earlier onset is noise over −40 dB of the peak
NOISY_DB = (
    -64.0
)  # dBFS before the onset: louder noise would itself be detected over the quiet room's −70
CLICK_DB = -58.0  # dBFS in a block of 5 ms: 32 dB below the word
CLICK_BLOCKS = 4  # consecutive blocks below that within the first 12 end a click before the word


@dataclass(frozen=True)
class OwnerWord:
    """One sound of the owner, at −26 dBFS; `sound.onset` is its true onset.

    That is the first sample over −40 dB of its peak. `click`: the onset belongs to a click or a
    breath, and 20 ms of silence follow before the word.
    """

    kind: str
    name: str
    sound: OwnerSound
    click: bool = False


def synthetic(seed: int) -> Iterator[OwnerWord]:
    """Yield words and short sentences in random voices, speeds and pitches, without end."""
    rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
    scene = Scene(name="bench")
    while True:
        text, voice = rng.choice(SPOKEN), rng.choice(VOICES)
        speed, pitch = rng.randrange(140, 200, 10), rng.randrange(30, 75, 5)
        entry = ScriptedUtterance(say=text, voice=voice, speed=speed, pitch=pitch)
        yield OwnerWord("synthetic", f"{text} ({voice})", script_sounds.make(scene, entry))


class RecordedWords:
    """Recorded words as complete clips, with their own noise. `noisy`: clips that were left out.

    A clip is left out if its noise exceeds −40 dB of its peak from the start, so that its onset is
    unknown, or if its noise is louder than that of a quiet room.
    """

    def __init__(self, sources: Iterable[RecordingFile], seed: int) -> None:
        """Uses the backchannels and interruptions of `sources` that are at most `WORD_S` long."""
        self._sources = [
            source
            for source in sources
            if source.kind in ("backchannel", "interruption")
            and sound_file.duration_s(source.path) <= WORD_S
        ]
        random.Random(seed).shuffle(self._sources)  # noqa: S311 -- chance, not secrecy
        self.noisy = 0

    def __iter__(self) -> Iterator[OwnerWord]:
        while self._sources:
            any_usable = False
            for source in self._sources:
                sound = self._sound(source)
                if sound is None:
                    self.noisy += 1
                    continue
                any_usable = True
                yield OwnerWord("real", source.name, sound, begins_aside(sound))
            if not any_usable:
                return

    def _sound(self, source: RecordingFile) -> OwnerSound | None:
        try:
            clip = load(source)
        except InterludeError:
            return None
        sound = speech_source.at_level(clip.samples, SPEECH_DB)
        if (
            sound.onset < NOISY_FRAMES
            or level_db(to_float(sound.samples[: sound.onset])) > NOISY_DB
        ):
            return None
        return sound


def begins_aside(sound: OwnerSound) -> bool:
    """Whether the sound at the onset ends at once, as a click does, before the word starts."""
    silent = 0
    for step in range(12):
        at = sound.onset + step * 80
        silent = silent + 1 if level_db(to_float(sound.samples[at : at + 80])) < CLICK_DB else 0
        if silent == CLICK_BLOCKS:
            return True
    return False
