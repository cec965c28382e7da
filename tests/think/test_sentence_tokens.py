"""The tokens of each sentence, and the token in which each of its words begins."""

from __future__ import annotations

import pytest

from appliance.think.drawn_states import DrawnText
from appliance.think.sentence_tokens import FoundSentence, SentenceStream


def sentences_of(*texts: str, first: int = 100) -> list[FoundSentence]:
    """Push each text as one token, with serials that rise by ten. Returns the sentences."""
    stream = SentenceStream()
    found = [
        sentence
        for number, text in enumerate(texts)
        for sentence in stream.push(DrawnText(text, first + 10 * number))
    ]
    return found + stream.flush()


def words_of(found: FoundSentence) -> list[tuple[str, int]]:
    """Each word with the serial of the token that it begins in."""
    assert found.tokens is not None
    return [
        (word, found.tokens.first + offset)
        for word, offset in zip(found.text.split(), found.tokens.words, strict=True)
    ]


def test_a_sentence_has_its_tokens_and_each_word_its_first_token() -> None:
    (found,) = sentences_of("The", " sea", " is", " salt", "y", ".")
    assert found.text == "The sea is salty."
    assert found.tokens is not None
    assert (found.tokens.first, found.tokens.end) == (100, 151)
    assert words_of(found) == [("The", 100), ("sea", 110), ("is", 120), ("salty.", 130)]


def test_sentences_cover_all_tokens_without_overlap() -> None:
    found = sentences_of(
        "It", " is", " far", ".", "\n", "\n", "Very", " far", ".", " So", " they", " say."
    )
    spans = [(s.tokens.first, s.tokens.end) for s in found if s.tokens is not None]
    assert [s.text for s in found] == ["It is far.", "Very far.", "So they say."]
    assert spans == [(100, 131), (131, 181), (181, 211)]
    assert words_of(found[1])[0] == ("Very", 160)


def test_a_repeated_word_has_the_token_of_each_occurrence() -> None:
    (found,) = sentences_of("no", ",", " no", ",", " no")
    assert [serial for _, serial in words_of(found)] == [100, 120, 140]


def test_removed_markup_does_not_shift_the_words() -> None:
    (found,) = sentences_of("**", "Moon", "**", " is", " a `", "rock", "`.")
    assert found.text == "Moon is a rock ."[:-2] + "."
    assert [serial for _, serial in words_of(found)][:2] == [110, 130]


@pytest.mark.parametrize("texts", [("It is far.",), ("It", " is", " far.")])
def test_text_without_serials_has_no_tokens(texts: tuple[str, ...]) -> None:
    stream = SentenceStream()
    found = [sentence for text in texts for sentence in stream.push(text)] + stream.flush()
    assert found == [FoundSentence("It is far.", None)]


def test_after_a_flush_the_next_text_has_its_own_tokens() -> None:
    stream = SentenceStream()
    stream.push(DrawnText("Wait", 5))
    (before,) = stream.flush()
    stream.push(DrawnText("It is one", 90))
    (after,) = stream.flush()
    assert before.tokens is not None
    assert after.tokens is not None
    assert (before.tokens.first, before.tokens.end) == (5, 6)
    assert words_of(after)[0][1] == 90
    assert after.tokens.end == 91
