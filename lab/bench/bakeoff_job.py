"""Defines the job and the result of a candidate's process in `interlude bench bakeoff`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from appliance.runtime.process_table import row
from appliance.settings import Settings
from appliance.think.factory import usable_threads

PROMPT_TOKENS, DRAWN_TOKENS = 512, 64


class Job(msgspec.Struct, frozen=True):
    """A job for one candidate. `files`: the paths of its model."""

    files: list[str]
    settings: Settings
    repeats: int
    seed: int

    @property
    def threads(self) -> int:
        """The number of threads that the thinker would use."""
        return self.settings.thinking.threads or usable_threads(row("thinker").cores)


class Found(msgspec.Struct):
    """The result: tokens a second, seconds from a question to its first token, MiB."""

    prompt_per_s: list[float] = []
    drawn_per_s: list[float] = []
    first_token_s: list[float] = []
    resident_mib: float = 0.0
    peak_mib: float = 0.0


def litert(files: Sequence[Path | str]) -> bool:
    """Whether the files are for LiteRT-LM."""
    return str(files[0]).endswith(".litertlm")
