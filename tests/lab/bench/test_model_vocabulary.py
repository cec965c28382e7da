"""A vocabulary in which each word of given texts is one token."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.bench import model_vocabulary
from lab.bench.model_vocabulary import MARKS, NORMAL, SPACE, Vocabulary


def test_a_vocabulary_that_its_words_do_not_fit_into_is_an_error() -> None:
    assert len(model_vocabulary.make(2048, ["a big stone"]).tokens) == 2048
    with pytest.raises(ValueError, match="do not fit into 380 tokens"):
        model_vocabulary.make(380, ["a big stone"])


def split(text: str, made: Vocabulary) -> list[str]:
    """What a byte-pair tokeniser makes of a word: the first merge of the list comes first."""
    pieces, ranks = list(text), {pair: rank for rank, pair in enumerate(made.merges)}
    while len(pieces) > 1:
        pairs = [ranks.get(f"{a} {b}", len(ranks)) for a, b in pairwise(pieces)]
        at = min(range(len(pairs)), key=pairs.__getitem__)
        if pairs[at] == len(ranks):
            return pieces
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
    return pieces


@settings(max_examples=50)
@given(st.lists(st.from_regex(r"[A-Za-z]{1,9}", fullmatch=True), min_size=1, max_size=8))
def test_behind_a_space_every_word_of_the_texts_is_one_token(words: list[str]) -> None:
    made = model_vocabulary.make(4096, [" ".join(words)])
    tokens = dict(zip(made.tokens, made.kinds, strict=True))
    for written in (SPACE + word for word in words):
        assert split(written, made) == [written]
        assert tokens[written] == NORMAL


def test_the_marks_of_the_real_vocabulary_keep_their_numbers() -> None:
    made = model_vocabulary.make(2048, ["a big stone"])
    for number, (mark, kind) in MARKS.items():
        assert (made.tokens[number], made.kinds[number]) == (mark, kind)
    assert len(set(made.tokens)) == len(made.tokens)


def test_the_first_word_of_a_text_is_one_token_though_others_begin_inside_of_it() -> None:
    made = model_vocabulary.make(4096, ["model", "else nothing", "Respond to the espresso"])
    for written in ("model", "else", "Respond"):
        assert split(written, made) == [written]
