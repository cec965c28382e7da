"""Incremental prefill: evaluates only the part of a prompt that the context does not hold.

In: tokenised prompts. What is held is always the beginning of one. To continue with another one,
the reader goes back to where the two part and reads on from there, all of it or a piece at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from appliance.think.audio_embeddings import Ids
from appliance.think.context import BATCH, LlamaContext
from appliance.think.tokenized_prompt import TokenizedPrompt

PIECE_S = 0.5  # of work: so long, at most, a question waits for a piece that it did not ask for
# A piece of fewer tokens costs up to twice as much a token (measured on full-size weights: 32
# tokens 1.2 times). On a Pi that takes longer than PIECE_S, but a question needs what it reads.
LEAST_TOKENS = 32


class PrefillPace:
    """How many tokens make a piece, by how long the last one took."""

    def __init__(self) -> None:
        self.tokens = LEAST_TOKENS

    def record(self, tokens: int, seconds: float) -> None:
        """A piece of so many tokens. One that is short of its size says little of the speed."""
        if tokens >= LEAST_TOKENS:
            fitting = int(tokens * PIECE_S / max(seconds, 1e-6))
            self.tokens = max(LEAST_TOKENS, min(BATCH, fitting))


class IncrementalPrefill:
    """Of one sequence. `held`: the identities of what it holds. `clock` gives seconds."""

    def __init__(
        self, gemma: LlamaContext, sequence: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._gemma = gemma
        self._sequence = sequence
        self._clock = clock
        self._pace = PrefillPace()
        self.held: Ids = np.empty(0, np.int64)

    def prefill(self, prompt: TokenizedPrompt, *, draw: bool) -> int:
        """Hold exactly `prompt`, reading only what is not held yet; ready to draw if so wished.

        Returns how many tokens it read. Raises AnswerAbandoned, ModelError.
        """
        self.select()
        common = prompt.common(self.held)
        if draw:  # weights of the next token come only with reading the last one
            if common == len(prompt) == self._gemma.position and self._gemma.can_draw:
                return 0
            common = min(common, len(prompt) - 1)
        if common < self._gemma.position:
            common = self._gemma.roll_back(common)
        try:
            self._gemma.evaluate(*prompt.after(common), last=draw)
        finally:
            self.held = prompt.ids[: self._gemma.position]
        return len(prompt) - common

    def prefill_piece(self, prompt: TokenizedPrompt) -> bool:
        """Read on towards holding `prompt`, for PIECE_S or so. Returns whether it is held now.

        Raises AnswerAbandoned, ModelError.
        """
        began_s = self._clock()
        piece = prompt.until(prompt.common(self.held) + self._pace.tokens)
        read = self.prefill(piece, draw=False)
        self._pace.record(read, self._clock() - began_s)
        return len(piece) == len(prompt)

    def reaches(self, position: int) -> bool:
        """It can go on from the first `position` tokens that it holds without reading them again:
        from a restored state it cannot go back further than to its end."""
        self.select()
        return position == self._gemma.position or self._gemma.reaches(position)

    def state(self) -> bytes:
        """What the model computed of what is held, for `restore`."""
        self.select()
        return self._gemma.state()

    def restore(self, state: bytes, prompt: TokenizedPrompt) -> bool:
        """Hold `prompt`, of which `state` is what the model computed. Returns whether it does; else
        it holds nothing."""
        self.select()
        holds = self._gemma.restore(state, len(prompt))
        self.held = prompt.ids if holds else prompt.ids[:0]
        return holds

    def select(self) -> None:
        """What is read and drawn from now on belongs to this sequence."""
        self._gemma.select_sequence(self._sequence)

    def record_sampled(self, tokens: Sequence[int]) -> None:
        """The model has drawn these, and holds them as far as it has read them."""
        self.select()
        drawn = np.append(self.held, np.array(tokens, np.int64))
        self.held = drawn[: self._gemma.position]
