"""Drawing an answer: tokens one by one, out of which come its text and its calls of tools.

It may begin before it is known whether the answer is wanted (`draw_ahead`): what was drawn then
waits here, and is handed out first, or is dropped as if it had never been drawn.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Protocol

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.drawn_states import DrawnStates
from appliance.think.special_tokens import SpecialTokenFilter
from appliance.think.tool_calls import with_calls
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall

AHEAD_TOKENS = 16  # the first clause and the beginning of the next: 2.5 s of a Pi's drawing

AnswerPiece = str | ToolCall | BadToolCall


class TokenSource(Protocol):
    """The part of Gemma that draws."""

    @property
    def interrupted(self) -> bool: ...
    def sample(self) -> int: ...
    def is_end(self, token: int) -> bool: ...
    def piece(self, token: int) -> bytes: ...
    def evaluate(self, content: list[int], *, last: bool = False) -> None: ...


class AnswerDrawing:
    """One answer, drawn from where the model's context ends.

    marks  what a special token is written as
    most   tokens at most; `limited` says that there would have been more
    drew   is called at the end, however it comes, with the tokens that were drawn
    states takes what the model makes of each token; None: nobody speaks it
    whole  after the end: the tokens are the text, nothing was left out
    """

    def __init__(
        self,
        model: TokenSource,
        marks: Mapping[int, str],
        most: int,
        drew: Callable[[list[int]], None],
        states: DrawnStates | None = None,
    ) -> None:
        self._model = model
        self._marks = marks
        self._most = most
        self._drew = drew
        self._states = states
        self.tokens: list[int] = []
        self.limited = self.whole = False
        self.drawn_ahead = 0
        self._ahead: deque[AnswerPiece] = deque()
        self._steps = self._draw()

    def draw_ahead(self) -> Generator[AnswerPiece]:
        """Draw up to AHEAD_TOKENS and keep what they make, which `pieces` hands out once more.

        Raises AnswerAbandoned when interrupted, ModelError.
        """
        while len(self.tokens) < AHEAD_TOKENS:
            pieces = next(self._steps, None)
            if pieces is None:
                return
            self._ahead += pieces
            self.drawn_ahead = len(self.tokens)
            yield from pieces or [""]  # an empty one: it has come to the end of a token

    def pieces(self) -> Iterator[AnswerPiece]:
        """All of the answer, what was drawn ahead first. Raises AnswerAbandoned, ModelError."""
        try:
            while self._ahead:
                yield self._ahead.popleft()
            for pieces in self._steps:
                yield from pieces
        finally:
            self.close()

    def close(self) -> None:
        """Nobody wants more of it. Safe to call twice."""
        self._steps.close()

    def _draw(self) -> Generator[list[AnswerPiece]]:
        """A step is a token: the pieces that it completes."""
        tags = SpecialTokenFilter()
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
                if len(self.tokens) >= self._most:
                    self.limited = True
                    break
                self.tokens.append(token)
                mark = self._marks.get(token)
                piece = mark or decode(self._model.piece(token))
                written += len(piece)
                pieces = list(with_calls(tags.split(piece)))
                spoken += _length(pieces)
                if states is not None:
                    pieces = states.drew(pieces, special=mark is not None)
                yield pieces
                self._model.evaluate([token], last=True)
                if states is not None:
                    states.has_read()
            else:
                raise AnswerAbandoned
        finally:
            if states is not None:
                states.end()
            self._drew(self.tokens)
        rest = decode(b"", True)
        pieces = list(with_calls([*tags.split(rest), *tags.finish()]))
        self.whole = written + len(rest) == spoken + _length(pieces)
        yield pieces


def _length(pieces: list[AnswerPiece]) -> int:
    """Letters of text."""
    return sum(len(piece) for piece in pieces if isinstance(piece, str))
