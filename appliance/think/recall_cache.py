"""Computes and saves the state of the last turns that the model recalls after a restart.

The box reports ready only when it could answer a question at once with all recalled turns in its
context. Prefilling these turns takes as long as prefilling persona and tools, so their state is
saved, too. If the box reported ready before that, the first answer after a restart would be
generated without the earlier conversation.

- While idle, the thinker gets the turns from the memory, as a start would, and prefills them in
  pieces in the sequence that pruning uses, when pruning does not need it.
- A state can only be continued from its end. So it is usable as long as the recalled turns *start*
  with it: a start that finds a state recalls from the state's first turn on, up to `RECALL_TIMES`
  as many turns as without one, and prefills only the turns after it.
- For the same reason the first turn stays the same while the conversation continues, up to twice as
  many turns: each turn is evaluated once, and all of them again only after that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

import numpy as np

from appliance.messages.thinking import RECALL_TIMES
from appliance.think.audio_embeddings import Ids
from appliance.think.history import HistoryTurn
from appliance.think.incremental_prefill import IncrementalPrefill
from appliance.think.snapshot_store import Snapshots
from appliance.think.tokenized_prompt import TokenizedPrompt

log = logging.getLogger("thinker")


class RecallCache:
    """The saved state of one conversation. `min_turns`: turns to recall without a saved state.
    `tokenize` returns the prompt of turns as a start evaluates it. `stable_tokens`: the first turn
    stays the same while the prompt has at most this many tokens. `spare` returns the sequence for
    prefilling ahead; `prefill` evaluates a piece in it and returns whether it holds all. All
    methods belong to one thread."""

    def __init__(
        self,
        snapshots: Snapshots,
        min_turns: int,
        stable_tokens: int,
        tokenize: Callable[[Sequence[HistoryTurn]], TokenizedPrompt],
        spare: Callable[[], IncrementalPrefill],
        prefill: Callable[[TokenizedPrompt], bool],
    ) -> None:
        self._snapshots = snapshots
        self._min_turns = min_turns
        self._stable_tokens = stable_tokens
        self._tokenize = tokenize
        self._spare = spare
        self._prefill = prefill
        self._loaded: tuple[Ids, bytes] | None = None  # loaded from disk and not yet restored
        self._wanted: TokenizedPrompt | None = None
        self._previous: Ids | None = None  # the previous value of `_wanted`
        self._saved: Ids | None = None  # of the state on disk, or about to be written
        self._ages = (0, 0)  # number of turns since the first one of `_wanted` and of `_saved`

    def load(self, turns: Sequence[HistoryTurn]) -> int:
        """Load the saved state and return how many of the newest `turns` to recall."""
        self._loaded = self._snapshots.load()
        if self._loaded is not None:
            ids = self._loaded[0]
            if count := self._longest_match(turns, ids)[0]:
                self._saved, self._ages = ids, (count, count)
                return count
            log.info("the saved state of the conversation does not match the recalled turns")
            self.forget()
        return min(self._min_turns, len(turns))

    def restore(self, reader: IncrementalPrefill, prompt: TokenizedPrompt) -> None:
        """Restore the loaded state in `reader` if `prompt`, which it is to hold, starts with it."""
        if self._loaded is None:
            return
        (ids, state), self._loaded = self._loaded, None
        started_s = time.monotonic()
        if _starts_with(prompt, ids) and reader.restore(state, prompt.until(len(ids))):
            self._snapshots.mark_usable()
            took_ms = 1000 * (time.monotonic() - started_s)
            log.info("loaded the conversation (%d tokens) in %.0f ms; %d tokens to prefill",
                     len(ids), took_ms, len(prompt) - len(ids))  # fmt: skip
        else:
            self.forget()

    def may_request(self) -> bool:
        """Whether the state of turns that are read from the memory from now on may be saved.
        Turns that were read before may have been forgotten since, so their state may not."""
        if not self._snapshots.ensure_file():
            return False
        if self._wanted is not None:
            self._previous, self._wanted = self._wanted.ids, None
        return True

    def set_turns(self, turns: Sequence[HistoryTurn]) -> None:
        """Set the turns that a start would recall as those to prepare."""
        previous = self._previous if self._previous is not None else self._saved
        turns = turns[-2 * self._min_turns :]
        count, prompt = self._longest_match(turns, previous) if previous is not None else (0, None)
        if prompt is None or len(prompt) > self._stable_tokens:
            count = min(self._min_turns, len(turns))
            prompt = self._tokenize(turns[-count:]) if count else None
        if prompt is None:
            self.forget()
            return
        self._wanted = prompt
        self._ages = (count, self._ages[1])

    def prepare(self) -> bool:
        """Prefill a piece. Return whether nothing is left to prefill. Raises AnswerAbandoned."""
        return self._wanted is None or self._is_saved(self._wanted) or self._prefill(self._wanted)

    def save(self) -> bool:
        """Write the state if it is complete and not saved already. Return whether it is written."""
        wanted, spare = self._wanted, self._spare()
        if wanted is None or self._is_saved(wanted) or not np.array_equal(spare.held, wanted.ids):
            return False
        self._snapshots.save(wanted.ids, spare.state())
        self._saved, self._ages = wanted.ids, (self._ages[0], self._ages[0])
        return True

    def count_turn(self) -> None:
        """Count a finished turn; drop a saved state whose first turn is no longer recalled."""
        self._ages = (self._ages[0] + 1, self._ages[1] + 1)
        if self._saved is not None and self._ages[1] > RECALL_TIMES * self._min_turns:
            self.forget()

    def forget(self) -> None:
        """Erase the state, in memory and on disk."""
        self._loaded = self._wanted = self._previous = self._saved = None
        self._snapshots.drop()

    def wait(self, within_s: float) -> None:
        """Wait for pending writes, for at most `within_s`."""
        self._snapshots.wait(within_s)

    def _is_saved(self, prompt: TokenizedPrompt) -> bool:
        return self._saved is not None and np.array_equal(self._saved, prompt.ids)

    def _longest_match(
        self, turns: Sequence[HistoryTurn], ids: Ids
    ) -> tuple[int, TokenizedPrompt | None]:
        """Return the number of newest turns whose prompt starts with `ids`, and this prompt; 0 and
        None if there is none."""
        for count in range(len(turns), max(1, min(self._min_turns, len(turns))) - 1, -1):
            prompt = self._tokenize(turns[-count:])
            if _starts_with(prompt, ids):
                return count, prompt
        return 0, None


def _starts_with(prompt: TokenizedPrompt, ids: Ids) -> bool:
    return prompt.common(ids) == len(ids)
