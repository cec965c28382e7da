"""The phonemes for each range of characters: numbers, times, units, names; no word is lost."""

from __future__ import annotations

import pytest
from hibari.g2p.normalize import normalize

from appliance.errors import UnsayableText
from appliance.plain_text import spoken
from appliance.voice.hibari.reader import MOST_PHONEMES, Reader, same_words, sentences


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


def read(reader: Reader, text: str) -> list[tuple[str, str]]:
    """(characters, phonemes without stress) of each word."""
    return [
        (text[word.begin : word.end], word.phonemes.replace("ˈ", "").replace("ˌ", ""))
        for words in reader.read(text)
        for word in words
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("at 3 pm.", [("at", "æt"), ("3", "θɹi"), ("pm.", "piɛm.")]),
        ("21.5 °C", [("21.5", "twɛnti wʌn pYnt fIv"), ("°C", "dəɡɹiz sɛlsiəs")]),
        ("21.5°C", [("21.5°C", "twɛnti wʌn pYnt fIv dəɡɹiz sɛlsiəs")]),
        ("9:30am, 15:00.", [("9:30am,", "nIn θɜɹTi Aɛm,"), ("15:00.", "fɪftin əklɑk.")]),
        ("on Jan. 5th", [("on", "ɔn"), ("Jan.", "ʤænjəwɛɹi"), ("5th", "fɪfθ")]),
        ("12/25", [("12/25", "disɛmbəɹ twɛntifɪfθ")]),
        ("5km/h", [("5km/h", "fIv kəlɑməTəɹz pɜɹ Wəɹ")]),
        ("20 kWh", [("20", "twɛnti"), ("kWh", "kɪləwɑt Wəɹz")]),
        ("$3.50", [("$3.50", "θɹi dɑləɹz ænd fɪfti sɛnts")]),
        ("a 50% chance", [("a", "ɐ"), ("50%", "fɪfti pəɹsɛnt"), ("chance", "ʧæns")]),
        ("Dr. Smith", [("Dr.", "dɑktəɹ"), ("Smith", "smɪθ")]),
        ("NASA, USB", [("NASA,", "næsə,"), ("USB", "juɛsbi")]),
        ("x² & ½", [("x²", "ɛks skwɛɹd"), ("&", "ænd"), ("½", "wʌn hæf")]),
        ("10 × 5", [("10", "tɛn"), ("×", "tImz"), ("5", "fIv")]),
        ("Köln", [("Köln", "kɜɹln")]),
        ("Việt Nam", [("Việt", "viət"), ("Nam", "nɑm")]),
    ],
)
def test_each_word_has_its_natural_pronunciation(
    reader: Reader, text: str, wanted: list[tuple[str, str]]
) -> None:
    assert read(reader, text) == wanted


def test_the_name_of_an_entity_is_read_word_by_word(reader: Reader) -> None:
    found = [phonemes for _, phonemes in read(reader, spoken("light.kitchen_light is on."))]
    assert found == ["lIt kɪʧən", "lIt", "ɪz", "ɔn."] or found[0].startswith("lIt")


@pytest.mark.parametrize(
    "text", ["Это дом.", "The word is дом.", "今日は", "नमस्ते", "It is ελπίδα."]
)
def test_a_text_with_another_script_is_refused(reader: Reader, text: str) -> None:
    with pytest.raises(UnsayableText, match="another script"):
        list(reader.read(text))


@pytest.mark.parametrize("text", ["", " ", "…", "— ?!", "“”"])
def test_punctuation_alone_gives_no_words(reader: Reader, text: str) -> None:
    assert list(reader.read(text)) == []


def test_no_word_of_a_text_is_omitted(reader: Reader) -> None:
    text = (
        "On Jan. 5th, 2024, at 9:30am, Dr. O'Neill (of the U.S.A.) paid $1,234.50 for 2-3 km of "
        "cable: it's No. 7, e.g. the “best” one — isn't it? Call 555-1234. Chapter IV says so!"
    )
    found = [word for words in reader.read(text) for word in words]
    covered = "".join(text[word.begin : word.end] for word in found)
    assert [c for c in text if c.isalnum()] == [c for c in covered if c.isalnum()]
    assert [word.begin for word in found] == sorted({word.begin for word in found})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("It is Jan. 5th. See No. 7. Go.", ["It is Jan. 5th.", "See No. 7.", "Go."]),
        ("Dr. Smith and J. K. Rowling. She", ["Dr. Smith and J. K. Rowling.", "She"]),
        ("He said “No.” Then he left.", ["He said “No.", "Then he left."]),
        ("about 3.5 km. and on", ["about 3.5 km. and on"]),
    ],
)
def test_text_is_split_at_the_ends_of_sentences(text: str, wanted: list[str]) -> None:
    assert [text[begin:end] for begin, end in sentences(text)] == wanted


def test_words_rewritten_together_are_aligned_as_one_group() -> None:
    """`5 October` becomes `the fifth of October`: the new words map to both old ones together."""
    old, new = ["on", "5", "October", "it"], ["on", "the", "fifth", "of", "October", "it"]
    assert list(same_words(old, new, normalize)) == [
        (0, 1, 0, 1), (1, 2, 1, 4), (2, 3, 4, 5), (3, 4, 5, 6),
    ]  # fmt: skip
    together = same_words(["#5", "~"], ["number", "5", "five", "x"], str.upper)
    assert next(together)[:2] == (0, 2)


def test_a_long_sentence_is_cut_after_a_clause(reader: Reader) -> None:
    parts = list(reader.read("It is a long sentence with many words, " * 20))
    assert len(parts) > 3
    for words in parts:
        assert sum(len(word.phonemes) + 1 for word in words) <= MOST_PHONEMES
        assert words[-1].phonemes.endswith(",")
    endless = list(reader.read("and " * 300))
    assert sum(map(len, endless)) == 300
