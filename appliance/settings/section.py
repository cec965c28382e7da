"""What a group of settings is, and the types that several of them use."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

Ratio = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Phrases = tuple[str, ...]
Scalar = bool | int | float | str  # a value that is no list
_WORD = r"[^\W\d_]+(?:['-][^\W\d_]+)*"
PHRASE = re.compile(rf"{_WORD}(?: {_WORD})*")


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of settings: unknown keys are refused, values never change after load."""


def is_phrase(text: str) -> bool:
    """Words of any language in lower case, one space between them."""
    return bool(PHRASE.fullmatch(text)) and text == text.lower()
