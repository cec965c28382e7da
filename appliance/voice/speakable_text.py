"""Text as a model writes it in, text as a voice can say it out."""

from __future__ import annotations

import re
import unicodedata

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")  # Markdown's [label](address) and ![label](address)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[|/]?[^<>|]*[|/]?>")  # markup, and a model's control tags
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}|>|[-*+•]|\d+[.)])[ \t]+", re.MULTILINE)
_DROPPED = str.maketrans(dict.fromkeys("*`#~|\\^{}[]<>", " ") | {"_": " "})
# What has no sound: control, format, surrogate, private and unassigned characters, emoji and
# other pictures (So), modifiers (Sk). `[[` would also switch espeak-ng to phoneme input.
_SILENT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "So", "Sk"})
_SPOKEN_SIGNS = frozenset("°")  # of category So, and said aloud ("20 °C")


def speakable(text: str) -> str:
    """`text` without markup and pictures, white space collapsed; "" if nothing can be said."""
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub(" ", text)
    text = _LINE_MARK.sub("", text)
    text = text.translate(_DROPPED)
    text = "".join(
        " " if char in "\r\n\t" or _is_silent(char) else char
        for char in unicodedata.normalize("NFC", text)
    )
    text = re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split()))
    return text if any(char.isalnum() for char in text) else ""


def _is_silent(char: str) -> bool:
    return unicodedata.category(char) in _SILENT and char not in _SPOKEN_SIGNS
