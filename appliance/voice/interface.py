"""The interface of a voice: text in, samples out in small pieces, cancelled at once. Nothing here
waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from appliance.messages.speech import SentenceTokens
from appliance.pcm import Samples
from appliance.voice.spoken_words import SpokenWord


class Speech(Protocol):
    """One sentence on its way from text to sound."""

    def fileno(self) -> int:
        """Readable when `read` has something to give."""
        ...

    def read(self) -> Samples | None:
        """The next samples, none if there are none yet, or None at the end.

        Raises VoiceError when the sentence cannot be spoken.
        """
        ...

    def cancel(self) -> None:
        """Stop the work on this sentence; it is not read again."""
        ...

    @property
    def words(self) -> Sequence[SpokenWord]:
        """Those of which samples have been read, at least, by where they lie in what is read. None
        from a voice that does not tell."""
        ...


class Voice(Protocol):
    """A synthesiser, loaded. Says one sentence at a time."""

    @property
    def name(self) -> str: ...

    @property
    def ready(self) -> bool:
        """It can begin with a sentence now."""
        ...

    @property
    def problem(self) -> str:
        """Why it is not ready, a sentence; "" if it is, or is only just starting."""
        ...

    def synthesise(self, text: str, tokens: SentenceTokens | None = None) -> Speech:
        """Begin with a sentence. `tokens`: what the model made of it, for a voice that speaks that
        and no text. Raises VoiceError when that is impossible, UnsayableText for this sentence."""
        ...

    def poll(self) -> None:
        """See to what it is made of. To be called now and then."""
        ...

    def close(self) -> None: ...


def is_loading(voice: Voice) -> bool:
    """It is only just starting, and nothing is known to be wrong with it."""
    return not voice.ready and not voice.problem
