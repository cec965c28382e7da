"""A complete tokenised prompt: runs of tokens and of soft tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from appliance.think.audio_embeddings import Ids
from appliance.think.context import Rows

PromptRun = tuple[int, ...] | Rows


@dataclass(frozen=True)
class TokenizedPrompt:
    """The runs of a prompt and the identity of every position (audio_embeddings.py)."""

    runs: tuple[PromptRun, ...]
    ids: Ids

    def __len__(self) -> int:
        return len(self.ids)

    def after(self, position: int) -> Iterator[PromptRun]:
        """Yield the runs from `position` on."""
        for run in self.runs:
            if position < len(run):
                yield run[max(0, position) :]
            position -= len(run)

    def until(self, position: int) -> TokenizedPrompt:
        """Return the prompt of the first `position` tokens."""
        left, runs = position, []
        for run in self.runs:
            if left > 0:
                runs.append(run[:left])
            left -= len(run)
        return TokenizedPrompt(tuple(runs), self.ids[:position])

    def common(self, held: Ids) -> int:
        """Return the length of the common prefix with the tokens `held`."""
        shorter = min(len(held), len(self.ids))
        differing = np.flatnonzero(held[:shorter] != self.ids[:shorter])
        return int(differing[0]) if len(differing) else shorter
