"""The interface of a voice: text in, samples out in small chunks; it can be cancelled at any time.
No method waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from appliance.messages.speech import SentenceTokens
from appliance.pcm import Samples
from appliance.voice.spoken_words import SpokenWord


class Speech(Protocol):
    """One sentence that is being synthesised."""

    def fileno(self) -> int:
        """A descriptor that is readable when `read` may return samples."""
        ...

    def read(self) -> Samples | None:
        """The next samples, an empty array if there are none yet, or None at the end.

        Raises VoiceError if the sentence cannot be spoken.
        """
        ...

    def cancel(self) -> None:
        """Stop the work on this sentence; the caller does not read it again."""
        ...

    @property
    def words(self) -> Sequence[SpokenWord]:
        """At least the words whose samples have been read, with their positions in these samples.
        Empty from a voice that does not report them."""
        ...


class Voice(Protocol):
    """A synthesiser. Says one sentence at a time."""

    @property
    def name(self) -> str: ...

    @property
    def ready(self) -> bool:
        """Whether it can start a sentence now."""
        ...

    @property
    def problem(self) -> str:
        """Why it is not ready, as a sentence; "" if it is ready or still loading."""
        ...

    def synthesise(self, text: str, tokens: SentenceTokens | None = None) -> Speech:
        """Start a sentence. `tokens`: the model's tokens of it, for a voice that speaks these and
        not the text. Raises VoiceError if it cannot, UnsayableText if it cannot say this text."""
        ...

    def poll(self) -> None:
        """Do what is due, such as the restart of a program. To be called regularly."""
        ...

    def close(self) -> None: ...


def is_loading(voice: Voice) -> bool:
    """Whether the voice is not ready yet, and no problem with it is known."""
    return not voice.ready and not voice.problem
