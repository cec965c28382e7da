"""Turns text of a model, Home Assistant or a shell into one plain line, and into spoken words."""

from __future__ import annotations

import re
import unicodedata

# Home Assistant's entity domains: the part of an entity id before its dot.
_ENTITY_DOMAINS = """
    alarm_control_panel automation binary_sensor button calendar camera climate counter cover date
    datetime device_tracker event fan group humidifier image input_boolean input_button
    input_datetime input_number input_select input_text lawn_mower light lock media_player number
    person remote scene schedule script select sensor siren sun switch text time timer todo update
    vacuum valve water_heater weather zone
""".split()
_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"!?\[([^\]\[]*)\]\([^)(]*\)", r"\1"),  # [a link](…): keep its text
        (r"\]\([^)(\s]*\)", ""),  # the rest of a link that the sentence splitter cut
        (r"https?://(?:www\.)?([^\s/?#)]*[^\s/?#).,;:!])(?:[/?#][^\s)]*[^\s).,;:!?])?/?", r"\1"),
        # The dot of light.kitchen_lamp, but not of weather.com, light.example.org or text.txt.
        (
            rf"(?<![\w.-])({'|'.join(_ENTITY_DOMAINS)})\."
            r"(?!(?:com|org|net|txt)\b)(?=[a-z0-9_]++(?![.-]?\w))",
            r"\1 ",
        ),
        (r"<\|[^<>|\s]{0,40}\|?>|<[^<>|\s]{0,40}\|>", " "),  # a model's control tokens
        (r"</?[a-zA-Z][^<>]*>", " "),
        (r"^[ \t]*```\w*\s", ""),  # a fence
        (r"^[ \t]*(?:(?:#{1,6}|[-*+•>])[ \t]+)+", ""),  # headings, bullets, quotations
        (r"(?<=\d)[ \t]*\*[ \t]*(?=\d)", " × "),
        # Characters that are not spoken. `[[` would switch espeak-ng to phoneme input.
        (r"[`~|\\^#{}\[\]<>]+", " "),
        (r"\*+(?=\S)|(?<=\S)\*+", ""),  # **strong**
        (r"\*", " "),
        (r"(?<!\w)_+|_+(?!\w)", ""),
        (r"(?<=\w)_+(?=\w)", " "),
        # Arrows, the enclosing keycap, and variation selectors; `_PICTURES` has the other emoji.
        (r"[\u2190-\u21FF\u20E3\uFE0E\uFE0F]", " "),
    )
)
_PICTURES = frozenset({"So", "Sk"})  # categories: emoji and other symbols, their modifiers
_SPOKEN_SIGNS = frozenset("°")  # of category So, and said aloud ("20 °C")


def one_line(text: str) -> str:
    """`text` as one line in Unicode normal form C. Characters that a voice or a model cannot use,
    and that a terminal might interpret, are removed: control, format, private-use and surrogate."""
    return " ".join(
        "".join(
            " " if letter.isspace() else letter
            for letter in unicodedata.normalize("NFC", text)
            if letter.isspace() or not unicodedata.category(letter).startswith("C")
        ).split()
    )


def spoken(text: str) -> str:
    """The words of `text` for a voice: one line without markup and emoji; "" if it has no letter
    and no digit. The time is linear in the length for any text."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = one_line("".join(" " if _is_picture(letter) else letter for letter in text))
    text = re.sub(r" (?=[.,;:!?])(?!\.\d)", "", text)  # left by removed text
    return text if any(letter.isalnum() for letter in text) else ""


def _is_picture(letter: str) -> bool:
    return unicodedata.category(letter) in _PICTURES and letter not in _SPOKEN_SIGNS
