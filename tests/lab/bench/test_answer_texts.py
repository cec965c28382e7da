"""The answers that a bench with random weights recites."""

from __future__ import annotations

import pytest

from appliance.think.sentences import SentenceSplitter
from lab.bench.answer_texts import ANSWERS, tokens_to_say


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_first_clause_ends_at_the_counted_token(answer: str) -> None:
    stream, text = SentenceSplitter(), ""
    for number, token in enumerate(_tokens(answer), 1):
        text += token
        if found := stream.push(token):
            assert number == tokens_to_say(found[0]), text
            assert 4 <= len(found[0].split()) <= 8
            return
    pytest.fail("no first piece before the end")


def _tokens(answer: str) -> list[str]:
    """Split as the vocabulary does: a word with its leading space, and separate punctuation."""
    tokens: list[str] = []
    for word in answer.split():
        mark = word[-1] if word[-1] in ",.?" else ""
        space = " " if tokens else ""
        tokens += [space + word.removesuffix(mark), mark] if mark else [space + word]
    return tokens
