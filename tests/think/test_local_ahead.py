"""An answer started ahead, in the pause after speech, is used as it is or leaves no trace."""

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
from tests.think.local_talk import Make, assert_same_as_fresh, growing_clips, settle, text_of
from tests.think.opened import gemma_of
from tests.think.recalling import Box


def start_ahead(model: LocalGemma, history: History, clip: SpeechClip) -> None:
    """Draw an answer ahead, as after a pause that may end the turn."""
    question = history.with_question([clip])
    model.prefill_partial(question, likely_all=True)
    list(model.draw_ahead(question))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_an_answer_started_ahead_is_used_and_only_its_rest_is_drawn(
    make: Make, temperature: float
) -> None:
    changes = {"temperature": temperature, "seed": 5, "answer_tokens": 2 * AHEAD_TOKENS}
    model, fresh = make(**changes), make(**changes)
    histories = History(), History()
    (complete,) = growing_clips(5, 3.0)
    for local, history in ((model, histories[0]), (fresh, histories[1])):
        settle(local, history)
        local.prefill_partial(history.with_question([complete]), likely_all=True)
    list(model.draw_ahead(histories[0].with_question([complete])))
    before, effort = model.progress, AnswerMetrics()
    texts = []
    for local, history, metrics in (
        (model, histories[0], effort), (fresh, histories[1], AnswerMetrics())
    ):  # fmt: skip
        history.add_turn(1, [SpeechClip(5, complete.samples.copy())])
        texts.append("".join(map(str, local.answer(history, metrics))))
    assert texts[0] == texts[1]
    assert effort.drawn_ahead == AHEAD_TOKENS
    assert effort.read == 0
    assert effort.thrown_away == 0
    assert model.progress - before <= effort.tokens - AHEAD_TOKENS + 1


def test_an_answer_started_for_a_question_that_continued_leaves_no_trace(make: Make) -> None:
    model, fresh = make(temperature=0.0), make(temperature=0.0)
    first, complete = growing_clips(5, 1.5, 3.0)
    texts, effort = [], AnswerMetrics()
    for local, ahead, metrics in ((model, True, effort), (fresh, False, AnswerMetrics())):
        history = History()
        settle(local, history)
        if ahead:
            start_ahead(local, history, first)
        history.add_turn(1, [SpeechClip(5, complete.samples.copy())])
        texts.append(text_of(local.answer(history, metrics)))
    assert texts[0] == texts[1]
    assert effort.drawn_ahead == 0
    assert 0 < effort.thrown_away <= AHEAD_TOKENS


def test_an_unused_answer_leaves_no_trace_in_the_context(make: Make) -> None:
    model, history = make(), History()
    settle(model, history)
    start_ahead(model, history, growing_clips(9, 3.0)[0])
    settle(model, history)
    assert_same_as_fresh(model, make(), history)


def test_an_interrupted_answer_ahead_is_thrown_away(make: Make) -> None:
    model, history = make(), History()
    settle(model, history)
    (complete,) = growing_clips(5, 3.0)
    model.prefill_partial(history.with_question([complete]), likely_all=True)
    pieces = model.draw_ahead(history.with_question([complete]))
    for _ in range(2):
        next(pieces)
    model.interrupt()
    with pytest.raises(AnswerAbandoned):
        list(pieces)
    model.resume()
    effort = AnswerMetrics()
    history.add_turn(1, [SpeechClip(5, complete.samples.copy())])
    assert text_of(model.answer(history, effort)) is not None
    assert effort.drawn_ahead == 0
    assert effort.thrown_away >= 1


def test_an_answer_ahead_that_stopped_early_is_continued(make: Make) -> None:
    model, history = make(temperature=0.0), History()
    settle(model, history)
    (complete,) = growing_clips(5, 3.0)
    model.prefill_partial(history.with_question([complete]), likely_all=True)
    pieces = model.draw_ahead(history.with_question([complete]))
    next(pieces)
    pieces.close()
    effort = AnswerMetrics()
    history.add_turn(1, [SpeechClip(5, complete.samples.copy())])
    text = "".join(map(str, model.answer(history, effort)))
    assert 1 <= effort.drawn_ahead < AHEAD_TOKENS
    fresh, same = make(temperature=0.0), History()
    settle(fresh, same)
    fresh.prefill_partial(same.with_question([complete]), likely_all=True)
    same.add_turn(1, [SpeechClip(5, complete.samples.copy())])
    assert text == "".join(map(str, fresh.answer(same, AnswerMetrics())))


def test_an_answer_ahead_is_dropped_if_the_next_start_is_prepared_meanwhile(
    tiny_model: LocalModel, tmp_path: Path
) -> None:
    (complete,) = growing_clips(5, 3.0)
    texts, read = [], []
    for name, ahead in (("ahead", True), ("not", False)):
        box = Box(tiny_model, tmp_path / name)
        box.start()
        for number in range(1, 4):
            box.turn(number)
        if ahead:
            start_ahead(box.model, box.session.history, complete)
        before = gemma_of(box.model).read
        box.rest(PREPARE_S)
        read.append(gemma_of(box.model).read - before)
        effort = AnswerMetrics()
        box.session.history.add_turn(9, [SpeechClip(5, complete.samples.copy())])
        texts.append(text_of(box.model.answer(box.session.history, effort)))
        assert effort.drawn_ahead == 0
        box.stop()
    assert min(read) > 0  # the second sequence was used
    assert texts[0] == texts[1]


def test_an_answer_ahead_is_continued_if_the_next_start_was_written_meanwhile(
    tiny_model: LocalModel, tmp_path: Path
) -> None:
    (complete,) = growing_clips(5, 3.0)
    texts = []
    for name, ahead in (("ahead", True), ("not", False)):
        box = Box(tiny_model, tmp_path / name, answer_tokens=2 * AHEAD_TOKENS)
        box.start()
        for number in range(1, 4):
            box.turn(number)
        box.rest(PREPARE_S)
        if ahead:
            start_ahead(box.model, box.session.history, complete)
        box.rest(WRITE_S)
        assert box.states(), "the state was written"
        gemma, effort = gemma_of(box.model), AnswerMetrics()
        gemma.select_sequence(1)
        written = gemma.position
        box.session.history.add_turn(9, [SpeechClip(5, complete.samples.copy())])
        texts.append(text_of(box.model.answer(box.session.history, effort)))
        assert bool(effort.drawn_ahead) == ahead
        gemma.select_sequence(1)
        assert gemma.position == written, "the answer is read in the question's sequence"
        box.stop()
    assert texts[0] == texts[1]
