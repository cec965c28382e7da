"""What `interlude bench bakeoff` asks of each candidate's process, and what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from appliance.runtime.process_table import row
from appliance.settings import Settings
from appliance.think.factory import usable_threads

PROMPT_TOKENS, DRAWN_TOKENS = 512, 64


class Job(msgspec.Struct, frozen=True):
    """`files`: of the model."""

    files: list[str]
    settings: Settings
    repeats: int
    seed: int

    @property
    def threads(self) -> int:
        """As many as the thinker would take."""
        return self.settings.thinking.threads or usable_threads(row("thinker").cores)


class Found(msgspec.Struct):
    """Tokens a second, seconds from a question until its first token, MiB."""

    prompt_per_s: list[float] = []
    drawn_per_s: list[float] = []
    first_token_s: list[float] = []
    resident_mib: float = 0.0
    peak_mib: float = 0.0


def litert(files: Sequence[Path | str]) -> bool:
    """They are for LiteRT-LM."""
    return str(files[0]).endswith(".litertlm")
