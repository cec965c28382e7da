"""Loads persona and tools into the model: from the state on disk, or by prefilling them in pieces.

They are the prefix of every prompt, so their state is also kept in memory: a sequence that cannot
be rolled back to its common prefix with the next prompt gets this state and continues from there.
"""

from __future__ import annotations

import logging
import time

from appliance.think.context import LlamaContext
from appliance.think.incremental_prefill import IncrementalPrefill
from appliance.think.prompt_state_cache import PromptStateCache
from appliance.think.tokenized_prompt import TokenizedPrompt

log = logging.getLogger("thinker")


class Opening:
    """The opening of the prompt and its computed state. `model`: identity of the model's file.
    `openings`: saves the state; None: it is not saved."""

    def __init__(
        self,
        prompt: TokenizedPrompt,
        gemma: LlamaContext,
        openings: PromptStateCache | None,
        model: bytes = b"",
    ) -> None:
        self.prompt = prompt
        self.state: bytes | None = None  # set once the opening is computed or loaded
        self._gemma = gemma
        self._openings = openings
        self._key = b"".join((model, gemma.fingerprint, prompt.ids.tobytes()))

    def __len__(self) -> int:
        return len(self.prompt)

    def open(self, reader: IncrementalPrefill, *, whole: bool) -> bool:
        """Load the opening's saved state, or prefill all (`whole`) or a piece of it. Return whether
        the opening is complete. Raises AnswerAbandoned."""
        if self.state is not None:
            return True
        if not len(reader.held) and self._load_saved(reader):
            return True
        if whole:
            reader.prefill(self.prompt, draw=False)
        elif not reader.prefill_piece(self.prompt):
            return False
        self.state = self._gemma.state()
        if self._openings is not None:
            self._openings.save(self._key, self.state)
        return True

    def restore_if_needed(self, reader: IncrementalPrefill, prompt: TokenizedPrompt) -> None:
        """Restore the opening's state in `reader` if it could not continue with `prompt`, which
        starts with the opening, without evaluating the opening again."""
        if self.state is None:
            return
        common = prompt.common(reader.held)
        if common < len(self.prompt) or not reader.reaches(common):
            reader.restore(self.state, self.prompt)

    def _load_saved(self, reader: IncrementalPrefill) -> bool:
        started_s = time.monotonic()
        state = self._openings.load(self._key) if self._openings is not None else None
        if state is None or not reader.restore(state, self.prompt):
            return False
        assert self._openings is not None
        self._openings.mark_usable(self._key)
        self.state = state
        log.info("loaded the opening (%d tokens) in %.0f ms",
                 len(self.prompt), 1000 * (time.monotonic() - started_s))  # fmt: skip
        return True
