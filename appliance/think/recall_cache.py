"""Computes and keeps the state of the last turns that the model reads first after a restart.

A start is over when the first question would be answered at once, with all that is remembered.
Reading the last turns takes as long as reading persona and tools, and so their state is kept, too.
The other way, to be ready before they are read, would give the first question after a restart an
answer without them: a box that says "ready" and has forgotten.

- While nobody speaks, the turns are taken from the memory, as a start would get them, and read into
  the sequence that pruning reads ahead in, when pruning has no use for it: a piece at a time.
- A state can be gone on with from its end alone. So it serves as long as what is recalled *begins*
  with it: a start that finds one begins with the turn that it begins with, up to
  `RECALL_TIMES` as many turns as are recalled otherwise, and reads only what was said since.
- For the same reason the beginning stays while the conversation goes on, up to twice as many turns:
  each turn is read once, and all of them anew only then.
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
    """`least`: turns that are recalled if nothing was kept. `tokenize`: the prompt of turns, as a
    start reads them. `grows`: tokens of it up to which its beginning stays. `spare`: the sequence
    that is prefilled ahead; `read`: has it read a piece, and says whether it holds all of it. All
    methods belong to one thread."""

    def __init__(
        self,
        snapshots: Snapshots,
        least: int,
        grows: int,
        tokenize: Callable[[Sequence[HistoryTurn]], TokenizedPrompt],
        spare: Callable[[], IncrementalPrefill],
        read: Callable[[TokenizedPrompt], bool],
    ) -> None:
        self._snapshots = snapshots
        self._least = least
        self._grows = grows
        self._tokenize = tokenize
        self._spare = spare
        self._read = read
        self._found: tuple[Ids, bytes] | None = None  # on disk, and not yet gone on with
        self._wanted: TokenizedPrompt | None = None
        self._before: Ids | None = None  # what was wanted before
        self._kept: Ids | None = None  # on disk, or about to be
        self._ages = (0, 0)  # turns back at which what is wanted, and what is kept, begins

    def begin_with(self, turns: Sequence[HistoryTurn]) -> int:
        """How many of these, the newest ones, are recalled."""
        self._found = self._snapshots.take()
        if self._found is not None:
            ids = self._found[0]
            if count := self._beginning(turns, ids)[0]:
                self._kept, self._ages = ids, (count, count)
                return count
            log.info("what was kept of the conversation is not how it is recalled now")
            self.forget()
        return min(self._least, len(turns))

    def go_on(self, reader: IncrementalPrefill, prompt: TokenizedPrompt) -> None:
        """Have `reader`, which is to read `prompt`, hold what was kept of it, if anything was."""
        if self._found is None:
            return
        (ids, state), self._found = self._found, None
        began_s = time.monotonic()
        if _begins(prompt, ids) and reader.restore(state, prompt.until(len(ids))):
            self._snapshots.works()
            took_ms = 1000 * (time.monotonic() - began_s)
            log.info("the conversation (%d tokens) was kept: %.0f ms; %d are to be read",
                     len(ids), took_ms, len(prompt) - len(ids))  # fmt: skip
        else:
            self.forget()

    def may_ask(self) -> bool:
        """Whether turns that are taken from the memory from now on may be kept, once computed.
        Those that were taken before may not: they may be forgotten since."""
        if not self._snapshots.begin():
            return False
        if self._wanted is not None:
            self._before, self._wanted = self._wanted.ids, None
        return True

    def want(self, turns: Sequence[HistoryTurn]) -> None:
        """These are what a start would be given."""
        before = self._before if self._before is not None else self._kept
        turns = turns[-2 * self._least :]
        count, prompt = self._beginning(turns, before) if before is not None else (0, None)
        if prompt is None or len(prompt) > self._grows:
            count = min(self._least, len(turns))
            prompt = self._tokenize(turns[-count:]) if count else None
        if prompt is None:
            self.forget()
            return
        self._wanted = prompt
        self._ages = (count, self._ages[1])

    def prepare(self) -> bool:
        """Read a piece. Returns whether nothing more is to be read. Raises AnswerAbandoned."""
        return self._wanted is None or self._same(self._wanted) or self._read(self._wanted)

    def keep(self) -> bool:
        """Have it written, if it is all read, and is not what is kept already. Returns whether."""
        wanted, spare = self._wanted, self._spare()
        if wanted is None or self._same(wanted) or not np.array_equal(spare.held, wanted.ids):
            return False
        self._snapshots.keep(wanted.ids, spare.state())
        self._kept, self._ages = wanted.ids, (self._ages[0], self._ages[0])
        return True

    def one_more(self) -> None:
        """A turn is over. What begins with one that is no longer recalled is of no use."""
        self._ages = (self._ages[0] + 1, self._ages[1] + 1)
        if self._kept is not None and self._ages[1] > RECALL_TIMES * self._least:
            self.forget()

    def forget(self) -> None:
        """Nothing of it is to be left, here or on the disk."""
        self._found = self._wanted = self._before = self._kept = None
        self._snapshots.drop()

    def wait(self, within_s: float) -> None:
        """For what is being written."""
        self._snapshots.wait(within_s)

    def _same(self, prompt: TokenizedPrompt) -> bool:
        return self._kept is not None and np.array_equal(self._kept, prompt.ids)

    def _beginning(
        self, turns: Sequence[HistoryTurn], ids: Ids
    ) -> tuple[int, TokenizedPrompt | None]:
        """How many turns, the newest, begin with these tokens, and their prompt; 0 if none do."""
        for count in range(len(turns), max(1, min(self._least, len(turns))) - 1, -1):
            prompt = self._tokenize(turns[-count:])
            if _begins(prompt, ids):
                return count, prompt
        return 0, None


def _begins(prompt: TokenizedPrompt, ids: Ids) -> bool:
    return prompt.common(ids) == len(ids)
