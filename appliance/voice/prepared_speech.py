"""Synthesises a sentence speculatively and buffers its sound until the sentence is ordered.

In: a text, and the voice that would say it. Out: a Speech whose first samples are already made; or
none, if another sentence was ordered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from appliance.errors import VoiceError
from appliance.messages.speech import SentenceTokens
from appliance.pcm import RATE_HZ, Samples
from appliance.voice.interface import Speech, Voice
from appliance.voice.spoken_words import SpokenWord

MOST_FRAMES = 10 * RATE_HZ  # more than a clause; the rest stays in the synthesiser


class PreparedSpeech:
    """A Speech that was started early; `read` returns the samples collected so far first."""

    def __init__(self, speech: Speech) -> None:
        self._speech = speech
        self._collected: deque[Samples] = deque()
        self._frames = 0
        self._ended = False

    def collect(self) -> None:
        """Buffer the samples that the voice has made. Raises VoiceError."""
        while self.collects:
            samples = self._speech.read()
            if samples is None:
                self._ended = True
            elif len(samples):
                self._collected.append(samples)
                self._frames += len(samples)
            else:
                return

    @property
    def collects(self) -> bool:
        return not self._ended and self._frames < MOST_FRAMES

    def fileno(self) -> int:
        return self._speech.fileno()

    def read(self) -> Samples | None:
        if self._collected:
            return self._collected.popleft()
        if self._ended:
            return None
        samples = self._speech.read()
        self._ended = samples is None
        return samples

    def cancel(self) -> None:
        self._speech.cancel()

    @property
    def words(self) -> Sequence[SpokenWord]:
        return self._speech.words


class SpeechPreparation:
    """Prepares at most one sentence."""

    def __init__(self) -> None:
        self._text = ""
        self._voice: Voice | None = None
        self._tokens: SentenceTokens | None = None
        self._speech: PreparedSpeech | None = None

    def begin(self, text: str, voice: Voice, tokens: SentenceTokens | None = None) -> None:
        """Start a sentence, in place of the one before. An error is ignored: it is raised again
        when the sentence is ordered."""
        self.drop()
        try:
            self._speech = PreparedSpeech(voice.synthesise(text, tokens))
        except VoiceError:
            return
        self._text, self._voice, self._tokens = text, voice, tokens

    @property
    def waits_for(self) -> PreparedSpeech | None:
        """The speech to poll; when it is readable, call `collect`."""
        return self._speech if self._speech is not None and self._speech.collects else None

    def collect(self) -> None:
        if self._speech is not None:
            try:
                self._speech.collect()
            except VoiceError:
                self.drop()

    def take(self, text: str, voice: Voice, tokens: SentenceTokens | None = None) -> Speech | None:
        """The speech of `text` by `voice`, if it was prepared. Otherwise drops what was prepared
        and returns None."""
        prepared = self._text, self._voice, self._tokens
        if self._speech is None or (text, voice, tokens) != prepared:
            self.drop()
            return None
        speech, self._speech, self._voice = self._speech, None, None
        return speech

    def drop(self) -> None:
        if self._speech is not None:
            self._speech.cancel()
        self._speech = self._voice = None
