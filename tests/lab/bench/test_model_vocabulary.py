"""A vocabulary in which each word of the given texts is one token."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.bench import model_vocabulary
from lab.bench.model_vocabulary import MARKS, NORMAL, SPACE, Vocabulary


def test_words_that_do_not_fit_into_the_vocabulary_are_an_error() -> None:
    assert len(model_vocabulary.make(2048, ["a big stone"]).tokens) == 2048
    with pytest.raises(ValueError, match="do not fit into 380 tokens"):
        model_vocabulary.make(380, ["a big stone"])


def split(text: str, vocabulary: Vocabulary) -> list[str]:
    """Tokenise a word by byte pairs: earlier merges of the list are applied first."""
    pieces, ranks = list(text), {pair: rank for rank, pair in enumerate(vocabulary.merges)}
    while len(pieces) > 1:
        pairs = [ranks.get(f"{a} {b}", len(ranks)) for a, b in pairwise(pieces)]
        at = min(range(len(pairs)), key=pairs.__getitem__)
        if pairs[at] == len(ranks):
            return pieces
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    return pieces


@settings(max_examples=50)
@given(st.lists(st.from_regex(r"[A-Za-z]{1,9}", fullmatch=True), min_size=1, max_size=8))
def test_every_word_of_the_texts_with_a_leading_space_is_one_token(words: list[str]) -> None:
    vocabulary = model_vocabulary.make(4096, [" ".join(words)])
    tokens = dict(zip(vocabulary.tokens, vocabulary.kinds, strict=True))
    for word_text in (SPACE + word for word in words):
        assert split(word_text, vocabulary) == [word_text]
        assert tokens[word_text] == NORMAL


def test_the_special_tokens_of_the_real_vocabulary_keep_their_numbers() -> None:
    vocabulary = model_vocabulary.make(2048, ["a big stone"])
    for number, (mark, kind) in MARKS.items():
        assert (vocabulary.tokens[number], vocabulary.kinds[number]) == (mark, kind)
    assert len(set(vocabulary.tokens)) == len(vocabulary.tokens)


def test_the_first_word_of_a_text_is_one_token() -> None:
    vocabulary = model_vocabulary.make(4096, ["model", "else nothing", "Respond to the espresso"])
    for word_text in ("model", "else", "Respond"):
        assert split(word_text, vocabulary) == [word_text]
