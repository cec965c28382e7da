"""Incremental prefill: evaluates only the part of a prompt that the context does not hold.

In: tokenised prompts. The sequence always holds a prefix of the last one. For another prompt,
IncrementalPrefill rolls back to the common prefix and evaluates the rest, in one go or in pieces.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from appliance.think.audio_embeddings import Ids
from appliance.think.context import BATCH, LlamaContext
from appliance.think.tokenized_prompt import TokenizedPrompt

PIECE_S = 0.5  # target time of a piece: a question waits at most so long for an idle piece to end
# A smaller piece costs up to twice as much per token (measured on full-size weights: 32 tokens, 1.2
# times). On a Pi 32 tokens take longer than PIECE_S, but the question needs these tokens anyway.
LEAST_TOKENS = 32


class PrefillPace:
    """Chooses the number of tokens in a piece by the time that the last piece took."""

    def __init__(self) -> None:
        self.tokens = LEAST_TOKENS

    def record(self, tokens: int, seconds: float) -> None:
        """Record the time of a piece. One shorter than LEAST_TOKENS is no measure of the speed."""
        if tokens >= LEAST_TOKENS:
            fitting = int(tokens * PIECE_S / max(seconds, 1e-6))
            self.tokens = max(LEAST_TOKENS, min(BATCH, fitting))


class IncrementalPrefill:
    """Prefills one sequence. `held`: the identities of its tokens. `clock` returns seconds."""

    def __init__(
        self, gemma: LlamaContext, sequence: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._gemma = gemma
        self._sequence = sequence
        self._clock = clock
        self._pace = PrefillPace()
        self.held: Ids = np.empty(0, np.int64)

    def prefill(self, prompt: TokenizedPrompt, *, draw: bool) -> int:
        """Make the sequence hold exactly `prompt`, evaluating only what it does not hold yet. With
        `draw`, the next token can be sampled afterwards.

        Returns the number of evaluated tokens. Raises AnswerAbandoned, ModelError.
        """
        self.select()
        common = prompt.common(self.held)
        if draw:  # only the evaluation of the last token gives the logits of the next
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
        """Evaluate the next piece of `prompt`, about PIECE_S long. Return whether all is held.

        Raises AnswerAbandoned, ModelError.
        """
        started_s = self._clock()
        piece = prompt.until(prompt.common(self.held) + self._pace.tokens)
        read = self.prefill(piece, draw=False)
        self._pace.record(read, self._clock() - started_s)
        return len(piece) == len(prompt)

    def reaches(self, position: int) -> bool:
        """Whether the sequence can be rolled back to its first `position` tokens: not to before
        the end of a restored state."""
        self.select()
        return position == self._gemma.position or self._gemma.reaches(position)

    def state(self) -> bytes:
        """Return the computed state of the sequence, for `restore`."""
        self.select()
        return self._gemma.state()

    def restore(self, state: bytes, prompt: TokenizedPrompt) -> bool:
        """Load `state`, the computed state of `prompt`. Return whether it succeeded; if not, the
        sequence is empty."""
        self.select()
        holds = self._gemma.restore(state, len(prompt))
        self.held = prompt.ids if holds else prompt.ids[:0]
        return holds

    def select(self) -> None:
        """Select this sequence for evaluation and sampling."""
        self._gemma.select_sequence(self._sequence)

    def record_sampled(self, tokens: Sequence[int]) -> None:
        """Add sampled tokens to `held`, as far as the model has evaluated them."""
        self.select()
        drawn = np.append(self.held, np.array(tokens, np.int64))
        self.held = drawn[: self._gemma.position]
