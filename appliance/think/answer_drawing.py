"""Samples an answer token by token and decodes the tokens to text and tool calls.

Sampling may start before the question is certain to be complete (`draw_ahead`). The pieces sampled
ahead are buffered here; `pieces` returns them first, or they are dropped.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Protocol

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.drawn_states import DrawnStates
from appliance.think.special_tokens import SPELLED_THOUGHTS, SpecialTokenFilter
from appliance.think.tool_calls import with_calls
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall

AHEAD_TOKENS = 16  # the first clause and the start of the next one: 2.5 s of sampling on a Pi

AnswerPiece = str | ToolCall | BadToolCall


class TokenSource(Protocol):
    """The methods of Gemma that sample and evaluate tokens."""

    @property
    def interrupted(self) -> bool: ...
    def sample(self) -> int: ...
    def is_end(self, token: int) -> bool: ...
    def piece(self, token: int) -> bytes: ...
    def evaluate(self, content: list[int], *, last: bool = False) -> None: ...


class AnswerDrawing:
    """One answer, sampled from the end of the model's context.

    marks       text of each special token
    max_tokens  `limited` is set if the answer was cut at this number of tokens
    on_end      called with the sampled tokens at the end, also after an error or `close`
    states      receives the hidden states of each token; None: no voice needs them
    complete    set at the end if the text holds all tokens and the filter removed nothing
    """

    def __init__(
        self,
        model: TokenSource,
        marks: Mapping[int, str],
        max_tokens: int,
        on_end: Callable[[list[int]], None],
        states: DrawnStates | None = None,
    ) -> None:
        self._model = model
        self._marks = marks
        self._max_tokens = max_tokens
        self._on_end = on_end
        self._states = states
        self.tokens: list[int] = []
        self.limited = self.complete = False
        self.drawn_ahead = 0
        self._ahead: deque[AnswerPiece] = deque()
        self._steps = self._draw()

    def draw_ahead(self) -> Generator[AnswerPiece]:
        """Sample up to AHEAD_TOKENS; yield the pieces and buffer them for `pieces`.

        Raises AnswerAbandoned when interrupted, ModelError.
        """
        while len(self.tokens) < AHEAD_TOKENS:
            pieces = next(self._steps, None)
            if pieces is None:
                return
            self._ahead += pieces
            self.drawn_ahead = len(self.tokens)
            yield from pieces or [""]  # "" marks the end of a token, so that the caller can stop

    def pieces(self) -> Iterator[AnswerPiece]:
        """Yield the whole answer, buffered pieces first. Raises AnswerAbandoned, ModelError."""
        try:
            while self._ahead:
                yield self._ahead.popleft()
            for pieces in self._steps:
                yield from pieces
        finally:
            self.close()

    def close(self) -> None:
        """Stop sampling. Safe to call twice."""
        self._steps.close()

    def _draw(self) -> Generator[list[AnswerPiece]]:
        """Yield, for each sampled token, the pieces that it completes."""
        tags = SpecialTokenFilter(SPELLED_THOUGHTS)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        written = spoken = 0
        states = self._states
        try:
            if states is not None:
                states.begin()
            while not self._model.interrupted:
                token = self._model.sample()
                if self._model.is_end(token):
                    break
                if len(self.tokens) >= self._max_tokens:
                    self.limited = True
                    break
                self.tokens.append(token)
                mark = self._marks.get(token)
                piece = mark or decode(self._model.piece(token))
                written += len(piece)
                found = tags.push_tag(piece) if mark is not None else tags.split(piece)
                pieces = list(with_calls(found))
                spoken += _text_length(pieces)
                if states is not None:
                    pieces = states.record_sampled(pieces, special=mark is not None)
                yield pieces
                self._model.evaluate([token], last=True)
                if states is not None:
                    states.record_evaluated()
            else:
                raise AnswerAbandoned
        finally:
            if states is not None:
                states.end()
            self._on_end(self.tokens)
        rest = decode(b"", True)
        pieces = list(with_calls([*tags.split(rest), *tags.finish()]))
        self.complete = written + len(rest) == spoken + _text_length(pieces)
        yield pieces


def _text_length(pieces: list[AnswerPiece]) -> int:
    """Return the number of letters in the text pieces."""
    return sum(len(piece) for piece in pieces if isinstance(piece, str))
