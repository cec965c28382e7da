"""States of spoken tokens: each piece of text names its states; unspoken tokens have none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from appliance.runtime.ipc.token_states import States
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.answer_drawing import AnswerDrawing
from appliance.think.drawn_states import DrawnStates, DrawnText
from appliance.tools.tool_call_syntax import ToolCall
from tests.think.test_answer_drawing import Script


class RecordingStates:
    """A tap and a writer in one; records the calls. States hold the last evaluated token."""

    def __init__(self) -> None:
        self.on = False
        self.stored: list[tuple[int, int, float, bool]] = []
        self.ended: list[tuple[int, int]] = []
        self.switched: list[bool] = []
        self.script = Script()

    def switch_on(self) -> None:
        self.switched.append(True)

    def switch_off(self) -> None:
        self.switched.append(False)

    def read(self, tokens: int = 1) -> States:
        return np.full((tokens, 7, 4), self.script.held[-1], np.float32)

    def store(self, serial: int, run: int, states: States, *, first: bool) -> None:
        self.stored.append((serial, run, float(states[0, 0]), first))

    def end(self, serial: int, run: int) -> None:
        self.ended.append((serial, run))

    def drawing(self, *texts: bytes, marks: tuple[int, ...] = ()) -> AnswerDrawing:
        self.script = Script(*texts)
        named = {token: texts[token - 1].decode() for token in marks}
        return AnswerDrawing(self.script, named, 100, lambda _: None, DrawnStates(self, self))


@pytest.fixture
def recorder() -> RecordingStates:
    return RecordingStates()


Drawing = Callable[..., AnswerDrawing]


def test_each_piece_of_text_has_the_serial_of_its_stored_states(
    recorder: RecordingStates,
) -> None:
    pieces = list(recorder.drawing(b"The", b" sea", b" is", b" wide.").pieces())
    spoken = [piece for piece in pieces if isinstance(piece, DrawnText) and piece]
    assert spoken == ["The", " sea", " is", " wide."]
    assert [piece.serial for piece in spoken] == [serial for serial, *_ in recorder.stored]
    assert [token for _, _, token, _ in recorder.stored] == [
        1,
        2,
        3,
        4,
    ]  # each after its evaluation
    assert [first for *_, first in recorder.stored] == [True, False, False, False]
    assert {run for _, run, _, _ in recorder.stored} == {spoken[0].serial}
    assert recorder.ended == [(spoken[-1].serial, spoken[0].serial)]


def test_the_tap_is_switched_on_once_per_answer_and_off_at_its_end(
    recorder: RecordingStates,
) -> None:
    list(recorder.drawing(b"One", b" two.").pieces())
    assert recorder.switched == [True, False]


def test_an_answer_that_is_dropped_switches_the_tap_off_and_ends_the_run(
    recorder: RecordingStates,
) -> None:
    answer = recorder.drawing(b"One", b" two", b" three.")
    pieces = answer.draw_ahead()
    assert [next(pieces), next(pieces)] == ["One", " two"]
    answer.close()
    assert recorder.switched == [True, False]
    assert len(recorder.ended) == 1
    assert len(recorder.stored) == 1  # the second was never evaluated


def test_an_interrupted_answer_switches_the_tap_off_too(recorder: RecordingStates) -> None:
    answer = recorder.drawing(b"One", b" two", b" three.")
    pieces = answer.pieces()
    next(pieces)
    recorder.script.interrupted = True
    with pytest.raises(AnswerAbandoned):
        list(pieces)
    assert recorder.switched == [True, False]


def test_a_drawing_that_never_started_does_not_touch_the_tap(recorder: RecordingStates) -> None:
    recorder.drawing(b"One").close()
    assert recorder.switched == []
    assert recorder.ended == []


def test_a_call_has_no_states_and_the_text_after_it_is_a_new_run(recorder: RecordingStates) -> None:
    texts = (b"Wait.", b"<|tool_call>", b"call:time{}", b"<tool_call|>", b"It", b" is one.")
    pieces = list(recorder.drawing(*texts, marks=(2, 4)).pieces())
    assert any(isinstance(piece, ToolCall) for piece in pieces)
    assert [token for _, _, token, _ in recorder.stored] == [1, 5, 6]
    assert [first for *_, first in recorder.stored] == [True, True, False]
    assert len(recorder.ended) == 2
    assert len({run for _, run, _, _ in recorder.stored}) == 2


def test_serials_rise_from_one_answer_to_the_next(
    recorder: RecordingStates,
) -> None:
    for _ in range(3):
        list(recorder.drawing(*[b"x"] * 50).pieces())
    serials = [serial for serial, *_ in recorder.stored]
    assert serials == sorted(set(serials))
    assert len(serials) == 150


def test_without_states_no_text_carries_a_serial() -> None:
    pieces = list(AnswerDrawing(Script(b"One", b" two."), {}, 9, lambda _: None).pieces())
    assert pieces[:2] == ["One", " two."]
    assert not any(isinstance(piece, DrawnText) for piece in pieces)
