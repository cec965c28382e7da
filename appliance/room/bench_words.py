"""The words that interrupt in a bench: synthetic ones by espeak-ng, and real ones from a folder.

Both are endless, mixed and seeded: the same seed gives the same words in the same order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.processes import RATE_HZ
from appliance.room import owner
from appliance.room.owner import SPEECH_DB, Sound
from appliance.room.scene import Scene, Utterance

SPOKEN = (
    "stop", "wait", "no", "hold on", "excuse me", "what about the sea", "never mind", "hey",
    "tell me about the moon instead", "actually", "listen", "thank you", "five", "please stop",
)  # fmt: skip
VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-us+f2", "en-us+f4", "en-us+m3", "en-gb+f3",
          "en-gb-x-rp", "en-us+m7", "en-gb+m1")  # fmt: skip
NOISY_FRAMES = RATE_HZ // 50  # a clip that is over −40 dB of its peak within 20 ms


@dataclass(frozen=True)
class Word:
    """One sound of the owner, at −26 dBFS; `sound.onset` is its true onset.

    That is the first sample over −40 dB of its peak.
    """

    kind: str
    name: str
    sound: Sound


def synthetic(seed: int) -> Iterator[Word]:
    """Words and short sentences in several voices, speeds and pitches."""
    rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
    scene = Scene(name="bench")
    while True:
        text, voice = rng.choice(SPOKEN), rng.choice(VOICES)
        speed, pitch = rng.randrange(140, 200, 10), rng.randrange(30, 75, 5)
        entry = Utterance(say=text, voice=voice, speed=speed, pitch=pitch)
        yield Word("synthetic", f"{text} ({voice})", owner.make(scene, entry))


class Recorded:
    """Recorded words, whole clips with what noise they carry. `noisy` counts those left out.

    The onset of a clip whose own noise is over −40 dB of its peak from the start cannot be told.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._files = sorted((folder / "words").glob("*/*.flac"))
        random.Random(seed).shuffle(self._files)  # noqa: S311 -- chance, not secrecy
        self.noisy = 0

    def __iter__(self) -> Iterator[Word]:
        while self._files:
            usable = False
            for file in self._files:
                sound = owner.recorded(file, SPEECH_DB)
                if sound.onset < NOISY_FRAMES:
                    self.noisy += 1
                    continue
                usable = True
                yield Word("real", f"{file.parent.name}/{file.stem}", sound)
            if not usable:
                return
