"""The background judge never blocks, answers the newest question and has normal priority."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.hear.network_judge import BackgroundJudge, DirectJudge, NetworkAnswer
from appliance.hear.turn.turn_network import TurnNetwork

SOUND = np.random.default_rng(1).normal(0, 900, 128_000).astype(np.int16)
LIMIT_S = 30.0


@pytest.fixture(scope="module")
def network() -> TurnNetwork:
    return TurnNetwork()


def awaited(judge: BackgroundJudge[float]) -> NetworkAnswer[float]:
    return polled(judge.pop_answer)


def threads() -> set[int]:
    return {int(task.name) for task in Path("/proc/self/task").iterdir()}


def polled(pop: Callable[[], NetworkAnswer[float] | None]) -> NetworkAnswer[float]:
    until_s = time.monotonic() + LIMIT_S
    while (answer := pop()) is None:
        assert time.monotonic() < until_s
        time.sleep(0.002)
    return answer


@pytest.mark.long
def test_an_answer_comes_later_and_equals_the_networks(network: TurnNetwork) -> None:
    judge = BackgroundJudge(network.probability, "turn")
    assert judge.pop_answer() is None
    judge.ask(7, SOUND)
    answer = awaited(judge)
    assert (answer.number, answer.opinion) == (7, network.probability(SOUND))
    assert answer.took_ms > 0
    assert judge.pop_answer() is None


def test_of_many_questions_the_newest_and_few_others_are_answered(network: TurnNetwork) -> None:
    judge = BackgroundJudge(network.probability, "turn")
    for number in range(1, 51):
        judge.ask(number, SOUND)
    answered: list[int] = []
    while not answered or answered[-1] != 50:
        answered.append(awaited(judge).number)
    assert len(answered) <= 3


def test_asking_takes_less_than_2_ms_of_the_callers_cpu(network: TurnNetwork) -> None:
    judge = BackgroundJudge(network.probability, "turn")
    cpu_ns = time.thread_time_ns()
    judge.ask(1, SOUND)
    asked_ms = (time.thread_time_ns() - cpu_ns) / 1e6
    assert asked_ms < 2 < awaited(judge).took_ms


def test_the_judges_thread_has_normal_scheduling_under_any_policy(network: TurnNetwork) -> None:
    before = threads()
    was = os.sched_getscheduler(0)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    try:
        judge = BackgroundJudge(network.probability, "turn")
    finally:
        os.sched_setscheduler(0, was, os.sched_param(0))
    judge.ask(1, SOUND)
    awaited(judge)
    [own] = threads() - before
    assert os.sched_getscheduler(own) == os.SCHED_OTHER


def test_closing_the_judge_ends_its_thread_after_the_current_question(network: TurnNetwork) -> None:
    before = threads()
    judge = BackgroundJudge(network.probability, "turn")
    judge.ask(1, SOUND)
    assert len(threads() - before) == 1
    awaited(judge)
    judge.ask(2, SOUND)
    judge.close()
    until_s = time.monotonic() + LIMIT_S
    while threads() - before:  # the kernel's part of a joined thread ends a moment later
        assert time.monotonic() < until_s
        time.sleep(0.002)


def test_unusable_samples_give_an_answer_without_an_opinion(network: TurnNetwork) -> None:
    judge = DirectJudge(network.probability)
    judge.ask(1, np.zeros((2, 2), np.int16))
    answer = judge.pop_answer()
    assert answer is not None
    assert answer.opinion is None
    assert judge.pop_answer() is None
