"""The answer that is begun ahead: for one question, and without a trace otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.answer_ahead import AnswerAhead
from appliance.think.answer_drawing import AnswerDrawing
from appliance.think.tokenized_prompt import TokenizedPrompt
from tests.think.test_answer_drawing import Script, drawing


class Chance:
    """A sampler whose state is a number; copies are counted."""

    def __init__(self) -> None:
        self.state, self.copies = 0, 0

    def copy_sampler(self) -> int:
        self.copies += 1
        return self.state

    def replace_sampler(self, copy: int) -> None:
        self.copies -= 1
        self.state = copy

    def free_sampler(self, copy: int) -> None:
        self.copies -= 1


def question(*ids: int) -> TokenizedPrompt:
    return TokenizedPrompt((ids,), np.array(ids, np.int64))


def begun(chance: Chance, *ids: int) -> tuple[AnswerAhead, AnswerDrawing, list[int]]:
    ahead, (one, drew) = AnswerAhead(chance), drawing(Script(*[b"x"] * 50))
    list(ahead.draw(question(*ids), one))
    chance.state = 99  # drawing has moved it
    return ahead, one, drew


def test_the_question_that_it_was_begun_for_gets_it() -> None:
    chance = Chance()
    ahead, one, drew = begun(chance, 1, 2, 3)
    assert ahead.take(question(1, 2, 3)) is one
    assert (chance.state, chance.copies, drew) == (99, 0, [])
    assert ahead.take(question(1, 2, 3)) is None  # once
    assert ahead.pop_thrown_away() == 0


@pytest.mark.parametrize("ids", [(1, 2), (1, 2, 3, 4), (1, 2, 4), ()])
def test_another_question_gets_nothing_and_chance_is_as_before(ids: tuple[int, ...]) -> None:
    chance = Chance()
    ahead, one, drew = begun(chance, 1, 2, 3)
    assert ahead.take(question(*ids)) is None
    assert (chance.state, chance.copies) == (0, 0)
    assert drew == one.tokens
    assert ahead.pop_thrown_away() == len(one.tokens)
    assert ahead.pop_thrown_away() == 0


def test_a_beginning_that_is_interrupted_is_none() -> None:
    chance, script = Chance(), Script(*[b"x"] * 50)
    ahead, (one, _) = AnswerAhead(chance), drawing(script)
    pieces = ahead.draw(question(1), one)
    next(pieces)
    script.interrupted = True
    with pytest.raises(AnswerAbandoned):
        list(pieces)
    assert chance.copies == 0
    assert ahead.take(question(1)) is None
    ahead.drop()  # of nothing
