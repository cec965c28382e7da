"""Speech written down by the model itself, while nobody waits: what a restart recalls of it.

In: a clip as the model hears it, and a request to write it down. Out: the words, or none. It has a
small context of its own, so what the model holds of the conversation stays as it is. Ended in the
middle by an interruption, it goes on there the next time.
"""

from __future__ import annotations

import codecs
from typing import Any

import numpy as np

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.context import LlamaContext
from appliance.think.history import SpeechClip
from appliance.think.incremental_prefill import IncrementalPrefill
from appliance.think.prompt import most_tokens
from appliance.think.special_tokens import SpecialTokenFilter
from appliance.think.tokenized_prompt import TokenizedPrompt
from appliance.think.vocabulary import Vocabulary
from appliance.tools.tool_call_syntax import plain

ROOM_TOKENS = 1024  # a clip of 28 s is 700 and its transcript 240, the request some 40


class LocalTranscription:
    """One clip after the other. All methods belong to one thread, but for `interrupt`, `resume`."""

    def __init__(self, model: Any, vocabulary: Vocabulary, threads: int) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._threads = threads
        self._context = LlamaContext()
        self._reader = IncrementalPrefill(self._context)
        self._open = False
        self._clip: SpeechClip | None = None
        self._drawn: list[int] = []

    @property
    def progress(self) -> int:
        """Rises with every token."""
        return self._context.read

    def transcribe(self, clip: SpeechClip, request: TokenizedPrompt) -> str | None:
        """What is said in `clip`, which `request` asks for; None if the model comes to no end.

        Takes the likeliest token each time. Raises AnswerAbandoned, ModelError.
        """
        if clip is not self._clip:
            self.stop()
            self._clip = clip
        if not self._open:
            self._context.open(self._model, ROOM_TOKENS, self._threads, sequences=1)
            self._open = True
        ended = self._generate(request, most_tokens(clip))
        text = self._text() if ended else None
        self.stop()
        return text

    def stop(self) -> None:
        """Forget what was begun, and give its memory back."""
        self._context.close()
        self._open = False
        self._reader.held = self._reader.held[:0]
        self._clip, self._drawn = None, []

    def interrupt(self) -> None:
        self._context.interrupt()

    def resume(self) -> None:
        self._context.resume()

    def _generate(self, request: TokenizedPrompt, most: int) -> bool:
        """Whether the model came to an end."""
        while len(self._drawn) < most:
            if self._context.interrupted:
                raise AnswerAbandoned
            drawn = tuple(self._drawn)
            whole = TokenizedPrompt(
                (*request.runs, drawn), np.append(request.ids, drawn).astype(np.int64)
            )
            self._reader.prefill(whole, draw=True)
            token = int(self._context.logits().argmax())
            if self._vocabulary.is_end(token):
                return True
            self._drawn.append(token)
        return False

    def _text(self) -> str:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        tags = SpecialTokenFilter()
        special = self._vocabulary.special
        pieces = (special.get(each) or decode(self._vocabulary.piece(each)) for each in self._drawn)
        text = "".join(map(tags.feed, pieces))
        return plain(text + tags.feed(decode(b"", True)) + tags.flush())
