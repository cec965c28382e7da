"""Text of a model, of the house or of a shell, as one plain line, and as words that are said."""

from __future__ import annotations

import re
import unicodedata

# What stands before the dot of an entity id: Home Assistant's kinds of entities.
_ENTITY_DOMAINS = """
    alarm_control_panel automation binary_sensor button calendar camera climate counter cover date
    datetime device_tracker event fan group humidifier image input_boolean input_button
    input_datetime input_number input_select input_text lawn_mower light lock media_player number
    person remote scene schedule script select sensor siren sun switch text time timer todo update
    vacuum valve water_heater weather zone
""".split()
_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), by)
    for pattern, by in (
        (r"!?\[([^\]\[]*)\]\([^)(]*\)", r"\1"),  # [a link](…): its words
        (r"\]\([^)(\s]*\)", ""),  # the tail of one that a sentence's end cut in two
        (r"https?://(?:www\.)?([^\s/?#)]*[^\s/?#).,;:!])(?:[/?#][^\s)]*[^\s).,;:!?])?/?", r"\1"),
        # The dot of light.kitchen_lamp, not of weather.com, light.example.org or text.txt.
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
        # What no voice says. `[[` would also switch espeak-ng to phoneme input.
        (r"[`~|\\^#{}\[\]<>]+", " "),
        (r"\*+(?=\S)|(?<=\S)\*+", ""),  # **strong**
        (r"\*", " "),
        (r"(?<!\w)_+|_+(?!\w)", ""),
        (r"(?<=\w)_+(?=\w)", " "),
        # Arrows and the two signs that make pictures of letters; `_PICTURES` has the others.
        (r"[\u2190-\u21FF\u20E3\uFE0E\uFE0F]", " "),
    )
)
_PICTURES = frozenset({"So", "Sk"})  # categories: emoji and other symbols, modifiers of them
_SAID_SIGNS = frozenset("°")  # of category So, and said aloud ("20 °C")


def one_line(text: str) -> str:
    """`text` in one line of normal form C. What has no meaning for a voice or a model, and for a
    terminal may have one, is left out: control, format and private characters, halves of pairs."""
    return " ".join(
        "".join(
            " " if letter.isspace() else letter
            for letter in unicodedata.normalize("NFC", text)
            if letter.isspace() or not unicodedata.category(letter).startswith("C")
        ).split()
    )


def spoken(text: str) -> str:
    """The words of `text` as a voice says them: one line without markup and pictures; "" if nothing
    can be said. Time: linear in the length, whatever the text is."""
    for pattern, by in _MARKUP:
        text = pattern.sub(by, text)
    text = one_line("".join(" " if _is_picture(letter) else letter for letter in text))
    text = re.sub(r" (?=[.,;:!?])(?!\.\d)", "", text)  # left before a mark by what was taken out
    return text if any(letter.isalnum() for letter in text) else ""


def _is_picture(letter: str) -> bool:
    return unicodedata.category(letter) in _PICTURES and letter not in _SAID_SIGNS
