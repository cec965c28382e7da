"""Text normalisation for speech: the words of written text, without typographic marks."""

from __future__ import annotations

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),  # [a link](…): its words
        (r"\]\([^)\s]*\)", ""),  # the tail of one that a sentence's end cut in two
        (r"https?://(?:www\.)?([^\s/?#)]*[^\s/?#).,;:!])(?:[/?#][^\s)]*[^\s).,;:!?])?/?", r"\1"),
        (r"</?[a-zA-Z][^<>]*>", " "),
        (r"^\s*(?:#{1,6}|[-*+•>]|```\w*)\s+", ""),  # heading, bullet, quotation, fence
        (r"[`~|\[\]]+", " "),
        (r"\*+(?=\S)|(?<=\S)\*+", ""),  # **strong**, but not 3 * 4
        (r"(?<!\w)_+|_+(?!\w)", ""),
        (r"(?<=\w)_+(?=\w)", " "),
        # pictures: emoji, dingbats, arrows, flags, joiners, variation selectors, keycaps
        (
            r"[\U0001F000-\U0001FAFF\u2190-\u21FF\u2600-\u27BF\u2B00-\u2BFF\u200D\u20E3\uFE0E\uFE0F]",
            " ",
        ),
        (r"[\x00-\x1f\x7f\ufffd\s]+", " "),
        (r" (?=[.,;:!?])(?!\.\d)", ""),  # left before a mark by what was taken out
    )
)


def spoken(text: str) -> str:
    """The words of one sentence; empty if there is nothing in it to be said."""
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    text = text.strip()
    return text if any(letter.isalnum() for letter in text) else ""
