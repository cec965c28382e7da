"""What is recited by a bench whose weights are random."""

from __future__ import annotations

import pytest

from appliance.think.sentences import SentenceSplitter
from lab.bench.answer_texts import ANSWERS, tokens_to_say


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_first_words_of_an_answer_are_known_with_the_token_that_is_counted(answer: str) -> None:
    stream, said = SentenceSplitter(), ""
    for number, token in enumerate(_tokens(answer), 1):
        said += token
        if found := stream.push(token):
            assert number == tokens_to_say(found[0]), said
            assert 4 <= len(found[0].split()) <= 8
            return
    pytest.fail("no first piece before the end")


def _tokens(answer: str) -> list[str]:
    """As a vocabulary cuts them: a word with the space before it, and marks by themselves."""
    tokens: list[str] = []
    for word in answer.split():
        mark = word[-1] if word[-1] in ",.?" else ""
        space = " " if tokens else ""
        tokens += [space + word.removesuffix(mark), mark] if mark else [space + word]
    return tokens
