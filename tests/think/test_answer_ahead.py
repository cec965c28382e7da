"""An answer started ahead is used for its question only; otherwise the sampler is restored."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.answer_ahead import AnswerAhead
from appliance.think.answer_drawing import AnswerDrawing
from appliance.think.tokenized_prompt import TokenizedPrompt
from tests.think.test_answer_drawing import Script, drawing


class SamplerStub:
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


def started(sampler: SamplerStub, *ids: int) -> tuple[AnswerAhead, AnswerDrawing, list[int]]:
    ahead, (answer, drew) = AnswerAhead(sampler), drawing(Script(*[b"x"] * 50))
    list(ahead.draw(question(*ids), answer))
    sampler.state = 99  # as if drawing had advanced it
    return ahead, answer, drew


def test_an_answer_is_given_to_its_own_question_once() -> None:
    sampler = SamplerStub()
    ahead, answer, drew = started(sampler, 1, 2, 3)
    assert ahead.take(question(1, 2, 3)) is answer
    assert (sampler.state, sampler.copies, drew) == (99, 0, [])
    assert ahead.take(question(1, 2, 3)) is None  # once
    assert ahead.pop_thrown_away() == 0


@pytest.mark.parametrize("ids", [(1, 2), (1, 2, 3, 4), (1, 2, 4), ()])
def test_another_question_gets_no_answer_and_the_sampler_is_restored(ids: tuple[int, ...]) -> None:
    sampler = SamplerStub()
    ahead, answer, drew = started(sampler, 1, 2, 3)
    assert ahead.take(question(*ids)) is None
    assert (sampler.state, sampler.copies) == (0, 0)
    assert drew == answer.tokens
    assert ahead.pop_thrown_away() == len(answer.tokens)
    assert ahead.pop_thrown_away() == 0


def test_an_interrupted_answer_is_discarded() -> None:
    sampler, script = SamplerStub(), Script(*[b"x"] * 50)
    ahead, (answer, _) = AnswerAhead(sampler), drawing(script)
    pieces = ahead.draw(question(1), answer)
    next(pieces)
    script.interrupted = True
    with pytest.raises(AnswerAbandoned):
        list(pieces)
    assert sampler.copies == 0
    assert ahead.take(question(1)) is None
    ahead.drop()  # with no answer held
