"""Sentences from a stream of text: where they end, where they do not, and no text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.think.sentences import CLAUSE_WORDS, LONGEST, SentenceSplitter


def split(text: str, *, clause_words: int = 999) -> list[str]:
    sentences = SentenceSplitter(clause_words=clause_words)
    return sentences.push(text) + sentences.flush()


TABLE = [
    # plain
    ("Hello there. How are you?", ["Hello there.", "How are you?"]),
    ("Yes! Of course. Really?!  Yes.", ["Yes!", "Of course.", "Really?!", "Yes."]),
    ("no capital. then another one. end", ["no capital.", "then another one.", "end"]),
    ("One sentence without an end", ["One sentence without an end"]),
    ("", []),
    ("   \n\n ", []),
    ("...", []),
    # abbreviations
    ("Dr. Smith met Mrs. Jones.", ["Dr. Smith met Mrs. Jones."]),
    ("Fruit, e.g. apples, i.e. the red ones.", ["Fruit, e.g. apples, i.e. the red ones."]),
    ("Milk, eggs, etc. are here. Good.", ["Milk, eggs, etc. are here.", "Good."]),
    ("Milk, eggs, etc. They are here.", ["Milk, eggs, etc.", "They are here."]),
    ("He lives in St. Albans.", ["He lives in St. Albans."]),
    ("It opens at 9 a.m. and closes late.", ["It opens at 9 a.m. and closes late."]),
    ("It opens at 9 a.m. It closes late.", ["It opens at 9 a.m.", "It closes late."]),
    ("The U.S. is big. So is the U.K. Yes.", ["The U.S. is big.", "So is the U.K.", "Yes."]),
    ("On Jan. 5 it snowed. In Feb. it rained.", ["On Jan. 5 it snowed.", "In Feb. it rained."]),
    ("Cats vs. dogs. Dogs win.", ["Cats vs. dogs.", "Dogs win."]),
    ("Smith et al. wrote it. Good.", ["Smith et al. wrote it.", "Good."]),
    ("No. I cannot.", ["No.", "I cannot."]),
    ("See No. 5 there. Good.", ["See No. 5 there.", "Good."]),
    # initials
    ("J. R. R. Tolkien wrote it. Good.", ["J. R. R. Tolkien wrote it.", "Good."]),
    ("So do I. And you?", ["So do I.", "And you?"]),
    # numbers
    ("Pi is 3.14 or so. Good.", ["Pi is 3.14 or so.", "Good."]),
    ("It is 384,400 km away. Far!", ["It is 384,400 km away.", "Far!"]),
    ("It was in 1969. Then came 1970.", ["It was in 1969.", "Then came 1970."]),
    ("It costs $5.99! Cheap.", ["It costs $5.99!", "Cheap."]),
    ("Version 2.0. Good.", ["Version 2.0.", "Good."]),
    # lists
    ("1. Mix it. 2. Bake it.", ["1. Mix it.", "2. Bake it."]),
    ("Do this:\n1. Mix.\n2. Bake.", ["Do this:", "1. Mix.", "2. Bake."]),
    ("a. First\nb. Second", ["a. First", "b. Second"]),
    ("- Milk\n- Eggs\n* Salt\n• Tea", ["Milk", "Eggs", "Salt", "Tea"]),
    # ellipses
    ("Well... I think so. Yes.", ["Well... I think so.", "Yes."]),
    ("Well... maybe. Wait… what?", ["Well... maybe.", "Wait… what?"]),
    ("Well... It depends.", ["Well...", "It depends."]),
    # quotes and brackets
    ('"Really?" he asked. "Yes!" She left.', ['"Really?" he asked.', '"Yes!"', "She left."]),
    ("“It is far.” So he said.", ["“It is far.”", "So he said."]),
    ("It is far (very far.) Yes.", ["It is far (very far.)", "Yes."]),
    # addresses
    ("See example.com for more. Good.", ["See example.com for more.", "Good."]),
    ("See https://www.nasa.gov/moon?x=1.2. Good.", ["See nasa.gov.", "Good."]),
    ("See [the moon](https://a.b/c?d=e). Good.", ["See the moon.", "Good."]),
    # markup and emoji
    ("**Bold.** *Slanted!* `Code`. __Strong__.", ["Bold.", "Slanted!", "Code.", "Strong."]),
    ("# The Moon\nIt is round.", ["The Moon", "It is round."]),
    ("> Quoted.\n---\nDone.", ["Quoted.", "Done."]),
    ("```python\nprint\n```\nDone.", ["print", "Done."]),
    ("Good 👍🏽. Great 🎉! 🚀 Go.", ["Good.", "Great!", "Go."]),
    ("| a | b |\n|---|---|", ["a b"]),
    ("3 * 4 is 12. snake_case too.", ["3 × 4 is 12.", "snake case too."]),
    ("Half a \ufffd letter\x07.", ["Half a letter."]),
    ("First line\nSecond line", ["First line", "Second line"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentences"), TABLE)
def test_text_is_split_into_sentences(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


@pytest.mark.parametrize(("text", "_"), TABLE)
def test_the_size_of_the_pieces_makes_no_difference(text: str, _: list[str]) -> None:
    for size in (1, 2, 3, 7):
        stream, found = SentenceSplitter(), []
        for at in range(0, len(text), size):
            found += stream.push(text[at : at + size])
        assert found + stream.flush() == split(text, clause_words=CLAUSE_WORDS)


def test_a_sentence_is_returned_as_soon_as_it_is_certainly_complete() -> None:
    stream = SentenceSplitter()
    assert stream.push("It is far. ") == []  # "far. away" would go on
    assert stream.push("Th") == ["It is far."]
    assert stream.push("e end.\n") == ["The end."]


def test_the_first_sentence_may_be_cut_at_a_clause() -> None:
    text = "The moon is a ball of stone, far away. The sun is a ball of gas, far away too."
    assert split(text, clause_words=6) == [
        "The moon is a ball of stone,",
        "far away.",
        "The sun is a ball of gas, far away too.",
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("It rains all day, so take a coat.", "It rains all day,"),
        ("You can boil it or you can fry it if you like.", "You can boil it or you can fry it"),
        ("The moon is three days away and it has no air.", "The moon is three days away"),
        ("There is no wind on the moon because it has no air.", "There is no wind on the moon"),
        ("Auf dem Mond gibt es keinen Wind und keine Luft.", "Auf dem Mond gibt es keinen Wind"),
        # No mark and no conjunction: a phrase begins after eight words.
        (
            "The old bridge is about four hundred years old in its oldest parts.",
            "The old bridge is about four hundred years old",
        ),
        (
            "Die alte Brücke ist heute etwa vierhundert Jahre alt ohne jeden Zweifel.",
            "Die alte Brücke ist heute etwa vierhundert Jahre alt",
        ),
    ],
)
def test_the_first_words_are_cut_where_a_speaker_may_pause(text: str, first: str) -> None:
    stream = SentenceSplitter()
    found = [piece for letter in text + " And more. " for piece in stream.push(letter)]
    assert found[0] == first
    assert " ".join(found) == text  # the rest is one piece: the first part is being spoken by then


@pytest.mark.parametrize(
    "text",
    [
        "Cats and dogs.",
        "There are about ten or twelve of them.",
        "Es ist heute in der Stadt nicht so warm.",  # "so" is a conjunction in English only
        "The bridge in the town is old.",
        "The most famous rocket engineer of all was Wernher von Braun.",
        "Man hört im Sommer hier schon um fünf Uhr auf damit.",
        "It is on the brand-new android over the island.",  # parts of words
        "Say if",
    ],
)
def test_joined_words_are_not_separated(text: str) -> None:
    assert split(text, clause_words=CLAUSE_WORDS) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Yes, it is far away.",  # the clause is too short
        "It is about three hundred and eighty:five.",  # no space: no clause
        "There are about ten or twelve 1,000 km ones.",
    ],
)
def test_the_first_sentence_is_not_cut_needlessly(text: str) -> None:
    assert split(text, clause_words=6) == [text]


def test_a_comma_after_a_word_ends_a_clause_at_once() -> None:
    stream = SentenceSplitter(clause_words=4)
    assert stream.push("It rains all day") == []
    assert stream.push(",") == ["It rains all day,"]
    stream = SentenceSplitter(clause_words=4)
    assert stream.push("There are more than 1,") == []  # a number may go on


def test_an_endless_sentence_is_cut_between_words() -> None:
    pieces = split("word " * 200)
    assert all(len(piece) <= LONGEST for piece in pieces)
    assert " ".join(pieces).split() == ["word"] * 200


def test_an_endless_word_is_cut_anywhere() -> None:
    pieces = split("a" * 1000)
    assert "".join(pieces) == "a" * 1000
    assert max(map(len, pieces)) <= LONGEST


def test_after_a_flush_the_next_text_starts_anew() -> None:
    stream = SentenceSplitter()
    stream.push("One two three four five six seven, eight")
    stream.flush()
    assert stream.push("One two three four five six seven, eight") == [
        "One two three four five six seven,"
    ]


letters = st.text(alphabet="abIZ 5.,;:!?…-—'\"\n*eg", max_size=120)


@given(letters, st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_any_division_into_pieces_gives_the_same_sentences(text: str, sizes: list[int]) -> None:
    whole, pieces = SentenceSplitter(longest=40), SentenceSplitter(longest=40)
    expected = whole.push(text) + whole.flush()
    found, at, turn = [], 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        found += pieces.push(text[at : at + size])
        at, turn = at + size, turn + 1
    assert found + pieces.flush() == expected


@given(letters)
def test_all_letters_are_kept_in_order(text: str) -> None:
    stream = SentenceSplitter(longest=40)
    found = "".join(stream.push(text) + stream.flush())
    assert [c for c in found if c.isalnum()] == [c for c in text if c.isalnum()]


@given(st.text(max_size=200))
def test_any_text_gives_speakable_sentences(text: str) -> None:
    for sentence in split(text):
        assert sentence == sentence.strip()
        assert any(letter.isalnum() for letter in sentence)
