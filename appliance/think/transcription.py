"""Transcribes speech with the language model itself, while idle, for recall after a restart.

In: a clip and the tokenised request for its transcript. Out: the text, or none. It uses a small
context of its own, so the context of the conversation stays as it is. After an interruption it
continues where it stopped.
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

ROOM_TOKENS = 1024  # a clip of 28 s has 700 tokens, its transcript at most 240, the request some 40


class LocalTranscription:
    """Transcribes one clip at a time. All methods but `interrupt` and `resume` belong to one
    thread."""

    def __init__(self, model: Any, vocabulary: Vocabulary, threads: int) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._threads = threads
        self._context = LlamaContext()
        self._reader = IncrementalPrefill(self._context)
        self._open = False
        self._clip: SpeechClip | None = None
        self._sampled: list[int] = []

    @property
    def progress(self) -> int:
        """Rises with every evaluated token."""
        return self._context.read

    def transcribe(self, clip: SpeechClip, request: TokenizedPrompt) -> str | None:
        """Return the transcript of `clip`; None if the model does not end it within its limit.

        `request` is the prompt that asks for it. Samples greedily. Raises AnswerAbandoned,
        ModelError.
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
        """Discard an unfinished transcript and free the context."""
        self._context.close()
        self._open = False
        self._reader.held = self._reader.held[:0]
        self._clip, self._sampled = None, []

    def interrupt(self) -> None:
        self._context.interrupt()

    def resume(self) -> None:
        self._context.resume()

    def _generate(self, request: TokenizedPrompt, max_tokens: int) -> bool:
        """Sample until the end of the transcript. Return whether the model ended it."""
        while len(self._sampled) < max_tokens:
            if self._context.interrupted:
                raise AnswerAbandoned
            sampled = tuple(self._sampled)
            prompt = TokenizedPrompt(
                (*request.runs, sampled), np.append(request.ids, sampled).astype(np.int64)
            )
            self._reader.prefill(prompt, draw=True)
            token = int(self._context.logits().argmax())
            if self._vocabulary.is_end(token):
                return True
            self._sampled.append(token)
        return False

    def _text(self) -> str:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        tags = SpecialTokenFilter()
        special = self._vocabulary.special
        pieces = (
            special.get(token) or decode(self._vocabulary.piece(token)) for token in self._sampled
        )
        text = "".join(map(tags.feed, pieces))
        return plain(text + tags.feed(decode(b"", True)) + tags.flush())
