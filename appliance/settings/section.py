"""The base class of a group of settings, and the types that several groups use."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

Ratio = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Phrases = tuple[str, ...]
Scalar = bool | int | float | str  # a value that is not a list
_WORD = r"[^\W\d_]+(?:['-][^\W\d_]+)*"
PHRASE = re.compile(rf"{_WORD}(?: {_WORD})*")


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of settings: unknown keys are refused, values never change after load."""


def is_phrase(text: str) -> bool:
    """Whether `text` is words of any language in lower case with one space between them."""
    return bool(PHRASE.fullmatch(text)) and text == text.lower()
