"""What a group of settings is, and the types that several of them use."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

Ratio = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Phrases = tuple[str, ...]
PHRASE = re.compile(r"[a-z]+(['-][a-z]+)*( [a-z]+(['-][a-z]+)*)*")


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of settings: unknown keys are refused, values never change after load."""
