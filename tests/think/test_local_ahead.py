"""An answer that is begun in the silence is the answer, or leaves no trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.models.local_model import LocalModel
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.answer_drawing import AHEAD_TOKENS
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.think.snapshot_schedule import PREPARE_S, WRITE_S
from tests.think.local_talk import Make, growing, holds_what_a_fresh_one_would, said, settle
from tests.think.opened import gemma_of
from tests.think.recalling import Box


def begin(model: LocalGemma, history: History, said: SpeechClip) -> None:
    """As after the silence that may be the end."""
    question = history.with_question([said])
    model.prefill_partial(question, likely_all=True)
    list(model.draw_ahead(question))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_an_answer_that_was_begun_ahead_is_the_answer_and_costs_only_the_rest(
    make: Make, temperature: float
) -> None:
    changes = {"temperature": temperature, "seed": 5, "answer_tokens": 2 * AHEAD_TOKENS}
    model, fresh = make(**changes), make(**changes)
    histories = History(), History()
    (whole,) = growing(5, 3.0)
    for one, history in ((model, histories[0]), (fresh, histories[1])):
        settle(one, history)
        one.prefill_partial(history.with_question([whole]), likely_all=True)
    list(model.draw_ahead(histories[0].with_question([whole])))
    before, effort = model.progress, AnswerMetrics()
    texts = []
    for one, history, metrics in (
        (model, histories[0], effort), (fresh, histories[1], AnswerMetrics())
    ):  # fmt: skip
        history.add_turn(1, [SpeechClip(5, whole.samples.copy())])
        texts.append("".join(map(str, one.answer(history, metrics))))
    assert texts[0] == texts[1]
    assert effort.drawn_ahead == AHEAD_TOKENS
    assert effort.read == 0
    assert effort.thrown_away == 0
    assert model.progress - before <= effort.tokens - AHEAD_TOKENS + 1


def test_an_answer_that_was_begun_for_a_question_that_went_on_leaves_no_trace(make: Make) -> None:
    model, fresh = make(temperature=0.0), make(temperature=0.0)
    first, whole = growing(5, 1.5, 3.0)
    texts, effort = [], AnswerMetrics()
    for one, ahead, metrics in ((model, True, effort), (fresh, False, AnswerMetrics())):
        history = History()
        settle(one, history)
        if ahead:
            begin(one, history, first)
        history.add_turn(1, [SpeechClip(5, whole.samples.copy())])
        texts.append(said(one.answer(history, metrics)))
    assert texts[0] == texts[1]
    assert effort.drawn_ahead == 0
    assert 0 < effort.thrown_away <= AHEAD_TOKENS


def test_what_was_begun_for_nobody_is_not_held_by_what_comes_next(make: Make) -> None:
    model, history = make(), History()
    settle(model, history)
    begin(model, history, growing(9, 3.0)[0])
    settle(model, history)
    holds_what_a_fresh_one_would(model, make(), history)


def test_an_interrupted_beginning_is_no_beginning(make: Make) -> None:
    model, history = make(), History()
    settle(model, history)
    (whole,) = growing(5, 3.0)
    model.prefill_partial(history.with_question([whole]), likely_all=True)
    pieces = model.draw_ahead(history.with_question([whole]))
    for _ in range(2):
        next(pieces)
    model.interrupt()
    with pytest.raises(AnswerAbandoned):
        list(pieces)
    model.resume()
    effort = AnswerMetrics()
    history.add_turn(1, [SpeechClip(5, whole.samples.copy())])
    assert said(model.answer(history, effort)) is not None
    assert effort.drawn_ahead == 0
    assert effort.thrown_away >= 1


def test_a_beginning_that_is_left_early_is_gone_on_with(make: Make) -> None:
    model, history = make(temperature=0.0), History()
    settle(model, history)
    (whole,) = growing(5, 3.0)
    model.prefill_partial(history.with_question([whole]), likely_all=True)
    pieces = model.draw_ahead(history.with_question([whole]))
    next(pieces)
    pieces.close()
    effort = AnswerMetrics()
    history.add_turn(1, [SpeechClip(5, whole.samples.copy())])
    text = "".join(map(str, model.answer(history, effort)))
    assert 1 <= effort.drawn_ahead < AHEAD_TOKENS
    fresh, same = make(temperature=0.0), History()
    settle(fresh, same)
    fresh.prefill_partial(same.with_question([whole]), likely_all=True)
    same.add_turn(1, [SpeechClip(5, whole.samples.copy())])
    assert text == "".join(map(str, fresh.answer(same, AnswerMetrics())))


def test_what_was_begun_is_dropped_where_a_restart_is_prepared_meanwhile(
    tiny_model: LocalModel, tmp_path: Path
) -> None:
    (whole,) = growing(5, 3.0)
    texts, read = [], []
    for name, ahead in (("begun", True), ("not", False)):
        box = Box(tiny_model, tmp_path / name)
        box.start()
        for number in range(1, 4):
            box.turn(number)
        if ahead:
            begin(box.model, box.session.history, whole)
        before = gemma_of(box.model).read
        box.rest(PREPARE_S)
        read.append(gemma_of(box.model).read - before)
        effort = AnswerMetrics()
        box.session.history.add_turn(9, [SpeechClip(5, whole.samples.copy())])
        texts.append(said(box.model.answer(box.session.history, effort)))
        assert effort.drawn_ahead == 0
        box.stop()
    assert min(read) > 0  # the other sequence was used
    assert texts[0] == texts[1]


def test_what_was_begun_is_gone_on_with_where_a_restart_was_written_meanwhile(
    tiny_model: LocalModel, tmp_path: Path
) -> None:
    (whole,) = growing(5, 3.0)
    texts = []
    for name, ahead in (("begun", True), ("not", False)):
        box = Box(tiny_model, tmp_path / name, answer_tokens=2 * AHEAD_TOKENS)
        box.start()
        for number in range(1, 4):
            box.turn(number)
        box.rest(PREPARE_S)
        if ahead:
            begin(box.model, box.session.history, whole)
        box.rest(WRITE_S)
        assert box.states(), "it was written"
        gemma, effort = gemma_of(box.model), AnswerMetrics()
        gemma.select_sequence(1)
        written = gemma.position
        box.session.history.add_turn(9, [SpeechClip(5, whole.samples.copy())])
        texts.append(said(box.model.answer(box.session.history, effort)))
        assert bool(effort.drawn_ahead) == ahead
        gemma.select_sequence(1)
        assert gemma.position == written, "the answer is read where the question is"
        box.stop()
    assert texts[0] == texts[1]
