"""Persona and tools in the model: as they were kept on disk, or read a piece at a time.

They stand before everything else, so their state is held in memory, too: a sequence that cannot go
back to where its text and the next one part is given that state, and reads on from there.
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
    """`model`: tells the model's file from any other. `openings`: where the state is kept; None:
    nowhere."""

    def __init__(
        self,
        prompt: TokenizedPrompt,
        gemma: LlamaContext,
        openings: PromptStateCache | None,
        model: bytes = b"",
    ) -> None:
        self.prompt = prompt
        self.state: bytes | None = None  # once it is read
        self._gemma = gemma
        self._openings = openings
        self._made_of = b"".join((model, gemma.fingerprint, prompt.ids.tobytes()))

    def __len__(self) -> int:
        return len(self.prompt)

    def open(self, reader: IncrementalPrefill, *, whole: bool) -> bool:
        """Hold it: as it was kept, or by reading it, or a piece of it. Returns whether it is read.
        Raises AnswerAbandoned."""
        if self.state is not None:
            return True
        if not len(reader.held) and self._kept(reader):
            return True
        if whole:
            reader.prefill(self.prompt, draw=False)
        elif not reader.prefill_piece(self.prompt):
            return False
        self.state = self._gemma.state()
        if self._openings is not None:
            self._openings.save(self._made_of, self.state)
        return True

    def back(self, reader: IncrementalPrefill, prompt: TokenizedPrompt) -> None:
        """See that `reader` can go on with `prompt`, which begins with the opening, without reading
        the opening again."""
        if self.state is None:
            return
        common = prompt.common(reader.held)
        if common < len(self.prompt) or not reader.reaches(common):
            reader.restore(self.state, self.prompt)

    def _kept(self, reader: IncrementalPrefill) -> bool:
        began_s = time.monotonic()
        state = self._openings.load(self._made_of) if self._openings is not None else None
        if state is None or not reader.restore(state, self.prompt):
            return False
        assert self._openings is not None
        self._openings.mark_usable(self._made_of)
        self.state = state
        log.info("the opening (%d tokens) was kept: %.0f ms",
                 len(self.prompt), 1000 * (time.monotonic() - began_s))  # fmt: skip
        return True
