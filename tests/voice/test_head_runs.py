"""Runs of tokens: frames as early as possible and in order, and the handling of broken runs."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.runtime.ipc.token_states import States, TokenSlot
from appliance.voice.head_check import FRAMES_A_TOKEN as MOST_A_TOKEN
from appliance.voice.head_check import SPARE_FRAMES
from appliance.voice.head_runs import MOST_FRAMES, HeadRuns
from tests.voice import tiny_head
from tests.voice.tiny_head import BROKEN, FRAMES_A_TOKEN, LEAD_TOKENS, TinyHead, states_of


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> TinyHead:
    return TinyHead(tiny_head.write(tmp_path_factory.mktemp("head")))


def run(runs: HeadRuns, *serials: int, end: bool = True, states: States | None = None) -> None:
    for serial in serials:
        made = states_of(serial % 8) if states is None else states
        runs.add(TokenSlot(serial, serials[0], serial == serials[0], made))
    if end:
        runs.add(TokenSlot(serials[-1], serials[0], first=False, states=None))


def make_all(runs: HeadRuns) -> list[int]:
    while runs.step():
        continue
    return [frame.serial for frame in runs.made]


def test_frames_are_made_before_the_end_of_the_run_as_the_lead_allows(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, *range(10, 10 + LEAD_TOKENS), end=False)
    assert make_all(runs) == []
    serial = 10 + LEAD_TOKENS
    runs.add(TokenSlot(serial, 10, first=False, states=states_of(serial % 8)))
    assert make_all(runs) == [10] * FRAMES_A_TOKEN


def test_every_frame_has_its_token_and_all_are_made_at_the_end(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, 5, 9, 12)
    assert make_all(runs) == [s for s in (5, 9, 12) for _ in range(FRAMES_A_TOKEN)]
    assert runs.done == 12
    frame = runs.made[0]
    assert frame.samples.dtype == np.int16
    assert abs(frame.samples.astype(int)).max() > 3000


def test_runs_are_made_one_after_the_other(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, 5, 6)
    run(runs, 20, 21)
    assert make_all(runs) == sorted(make_all(runs))
    assert runs.done == 21
    assert runs.problem(5, 22) == ""


def test_dropped_runs_are_not_made(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, 5, 6)
    run(runs, 20, 21, end=False)
    runs.drop_before(20)
    assert runs.done == 6
    runs.add(TokenSlot(21, 20, first=False, states=None))
    assert set(make_all(runs)) == {20, 21}
    assert runs.problem(5, 22) == ""


def test_a_run_without_an_end_ends_when_the_next_begins(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, 5, 6, end=False)
    run(runs, 20, 21)
    assert set(make_all(runs)) == {5, 6, 20, 21}


def test_lost_states_break_only_their_own_run(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, 5, 6, 7, end=False)
    runs.lose()
    run(runs, 20, 21)
    assert {20, 21} <= set(make_all(runs))
    assert runs.problem(5, 8) == "states were lost"
    assert runs.problem(20, 22) == ""


def test_a_run_without_its_first_states_is_not_spoken(head: TinyHead) -> None:
    runs = HeadRuns(head)
    runs.add(TokenSlot(8, 5, first=False, states=states_of(1)))
    runs.add(TokenSlot(8, 5, first=False, states=None))
    assert make_all(runs) == []
    assert "first states" in runs.problem(8, 9)


def test_states_of_another_model_are_not_spoken(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, 5, 6, states=np.zeros((7, 9), np.float32))
    assert make_all(runs) == []
    assert runs.problem(5, 7) == "the states are of another model"


def test_an_error_of_the_head_loses_only_the_rest_of_its_run(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, 5, 6, end=False)
    run(runs, 5, end=False, states=states_of(0, BROKEN))  # not first: the third of the same run
    run(runs, 20)
    made = make_all(runs)
    assert made.count(20) == FRAMES_A_TOKEN
    assert "no such sound" in runs.problem(5, 8)
    assert runs.problem(20, 21) == ""


def test_an_endless_run_is_ended(head: TinyHead) -> None:
    class Endless(TinyHead):
        def begin(self) -> tiny_head.TinyStream:
            stream = super().begin()
            frame = stream.frame

            def first_for_ever() -> tiny_head.TinyFrame | None:
                stream._made = 0
                return frame()

            stream.frame = first_for_ever  # type: ignore[method-assign]
            return stream

    endless = Endless.__new__(Endless)
    endless.__dict__ = head.__dict__
    runs = HeadRuns(endless)
    run(runs, 5)
    assert len(make_all(runs)) == MOST_A_TOKEN + SPARE_FRAMES + 1
    assert "end" in runs.problem(5, 6)


def test_the_number_of_unclaimed_frames_is_limited(head: TinyHead) -> None:
    runs = HeadRuns(head)
    run(runs, *range(1, MOST_FRAMES // FRAMES_A_TOKEN + 100))
    assert len(make_all(runs)) == MOST_FRAMES
    runs.drop_before(runs.done)
    assert {frame.serial for frame in runs.made} == {runs.done}
