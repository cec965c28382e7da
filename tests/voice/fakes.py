"""A fake voice whose sound the test scripts."""

from __future__ import annotations

import os
from collections import deque

import numpy as np

from appliance.errors import VoiceError
from appliance.messages.speech import SentenceTokens
from appliance.pcm import EMPTY, Samples
from appliance.voice.spoken_words import SpokenWord


class FakeSpeech:
    """`give`: the results of `read`, in order: samples, an error to raise, or None at the end."""

    def __init__(self, give: list[Samples | VoiceError | None]) -> None:
        self.give = deque(give)
        self.cancelled = False
        self.words: list[SpokenWord] = []
        self.fd = os.eventfd(1)

    def fileno(self) -> int:
        return self.fd

    def read(self) -> Samples | None:
        assert not self.cancelled, "a cancelled sentence is not read"
        if not self.give:
            return EMPTY
        made = self.give.popleft()
        if isinstance(made, VoiceError):
            raise made
        return made

    def cancel(self) -> None:
        self.cancelled = True


class FakeVoice:
    """Each sentence is a distinct ramp of `frames` samples, in pieces, or the next of `script`."""

    def __init__(self, name: str = "fake", frames: int = 1000, piece: int = 300) -> None:
        self.name = name
        self.frames = frames
        self.piece = piece
        self.said: list[str] = []
        self.speeches: list[FakeSpeech] = []
        self.script: list[list[Samples | VoiceError | None]] = []
        self.refuses: VoiceError | None = None
        self.closed = False
        self.ready = True
        self.problem = ""

    def sound(self, number: int) -> Samples:
        return (np.arange(1, self.frames + 1) + 1000 * number).astype(np.int16)

    def synthesise(self, text: str, tokens: SentenceTokens | None = None) -> FakeSpeech:
        if self.refuses is not None:
            raise self.refuses
        sound = self.sound(len(self.said))
        give: list[Samples | VoiceError | None] = [
            sound[i : i + self.piece] for i in range(0, len(sound), self.piece)
        ]
        speech = FakeSpeech(self.script.pop(0) if self.script else [*give, None])
        self.said.append(text)
        self.speeches.append(speech)
        return speech

    def poll(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        self.closed = True
