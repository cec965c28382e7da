"""The silence that ends a turn depends on the judge's answers and on their delay."""

from __future__ import annotations

import logging

import msgspec
import numpy as np
import pytest

from appliance.hear.network_judge import NetworkAnswer
from appliance.hear.turn.end_of_turn import EndOfTurn, wait_ms
from appliance.pcm import Samples
from appliance.settings import HearingSettings, TurnSettings

STEP_FRAMES = 80  # a block of 5 ms
SURE, OPEN, UNLIKELY = 1.0, 0.5, 0.0


@pytest.fixture
def turn(settings: HearingSettings) -> TurnSettings:
    return msgspec.structs.replace(
        settings.turn, end_ms=500, ask_ms=(200, 500), sure=0.9, sure_ms=250, likely=0.3,
        unsure_ms=700, unlikely_ms=1200,
    )  # fmt: skip


class ScriptedJudge:
    """A judge that answers the nth question with the nth of `says`, `late_ms` of silence later."""

    def __init__(self, says: list[float | None], late_ms: float = 60.0) -> None:
        self.says = says
        self.late_steps = round(late_ms / 5)
        self.asked: list[int] = []
        self.due: list[tuple[int, NetworkAnswer[float]]] = []
        self.step = 0

    def ask(self, number: int, samples: Samples) -> None:
        probability = self.says[len(self.asked)]
        self.asked.append(number)
        self.due.append((self.step + self.late_steps, NetworkAnswer(number, probability, 60.0)))

    def pop_answer(self) -> NetworkAnswer[float] | None:
        if self.due and self.due[0][0] <= self.step:
            return self.due.pop(0)[1]
        return None


def silence(rule: EndOfTurn, judge: ScriptedJudge | None, lasts_ms: int) -> int | None:
    """Feed a silence. Returns the ms after which the turn is over; None if the owner goes on."""
    for frames in range(0, lasts_ms * 16, STEP_FRAMES):
        if judge is not None:
            judge.step += 1
        if rule.update(frames, lambda: np.zeros(16_000, np.int16)):
            return frames // 16
    return None


@pytest.mark.parametrize(
    ("says", "over_ms"),
    [
        ([SURE], 260),  # asked at 200 ms, answered 60 ms later
        ([0.9], 260),
        ([OPEN, OPEN], 700),
        ([OPEN, SURE], 560),  # asked again at 500 ms
        ([UNLIKELY, UNLIKELY], 1200),
        ([UNLIKELY, OPEN], 700),
        ([UNLIKELY, SURE], 560),
        ([OPEN, UNLIKELY], 1200),
    ],
)
def test_the_judges_answers_set_the_length_of_silence_that_ends_the_turn(
    turn: TurnSettings, says: list[float | None], over_ms: int
) -> None:
    judge = ScriptedJudge(says)
    assert silence(EndOfTurn(turn, judge), judge, 3000) == over_ms
    assert len(judge.asked) == len(says)


def test_a_sure_end_waits_for_the_minimum_silence(turn: TurnSettings) -> None:
    judge = ScriptedJudge([SURE], late_ms=0.0)
    assert silence(EndOfTurn(turn, judge), judge, 3000) == 250


@pytest.mark.parametrize(
    "judge",
    [
        None,
        ScriptedJudge([SURE, SURE], late_ms=310),  # too slow
        ScriptedJudge([None, None]),  # fails
        ScriptedJudge([float("nan"), float("nan")]),
    ],
    ids=["absent", "slow", "failing", "no number"],
)
def test_without_a_timely_answer_silence_alone_ends_the_turn(
    turn: TurnSettings, judge: ScriptedJudge | None
) -> None:
    assert silence(EndOfTurn(turn, judge), judge, 3000) == 500


def test_each_pause_has_its_own_questions(turn: TurnSettings) -> None:
    judge = ScriptedJudge([UNLIKELY, UNLIKELY, SURE])
    rule = EndOfTurn(turn, judge)
    assert silence(rule, judge, 900) is None
    assert silence(rule, judge, 3000) == 260
    assert judge.asked == [1, 2, 3]


def test_an_answer_for_an_earlier_pause_is_ignored(turn: TurnSettings) -> None:
    judge = ScriptedJudge([SURE, UNLIKELY, UNLIKELY], late_ms=90)
    rule = EndOfTurn(turn, judge)
    assert silence(rule, judge, 240) is None  # asked at 200 ms; the owner goes on at 240
    assert silence(rule, judge, 3000) == 1200


def test_a_finished_turn_leaves_no_state_for_the_next(turn: TurnSettings) -> None:
    judge = ScriptedJudge([SURE, UNLIKELY, UNLIKELY])
    rule = EndOfTurn(turn, judge)
    assert silence(rule, judge, 3000) == 260
    assert silence(rule, judge, 3000) == 1200


def test_a_late_judge_and_its_recovery_are_logged_once_each(
    turn: TurnSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "listener")
    judge = ScriptedJudge([SURE] * 8, late_ms=400)
    rule = EndOfTurn(turn, judge)
    for _ in range(2):
        silence(rule, judge, 3000)
    judge.late_steps = 1
    for _ in range(2):
        judge.due.clear()
        silence(rule, judge, 3000)
    lines = [record.message for record in caplog.records]
    assert lines == [
        "no judgement of the end of a turn within 500 ms: silence alone decides",
        "the end of a turn is judged again",
    ]


@pytest.mark.parametrize(
    ("probability", "ms"), [(None, 500), (0.9, 250), (0.89, 700), (0.3, 700), (0.29, 1200)]
)
def test_the_wait_depends_on_the_probability(
    turn: TurnSettings, probability: float | None, ms: int
) -> None:
    assert wait_ms(turn, probability) == ms
