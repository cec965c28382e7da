"""States of what is said: each with its text, none of what is not said."""

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


class Pages:
    """A tap and a writer: states are the number of the reading; notes what comes, in order."""

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
def pages() -> Pages:
    return Pages()


Drawing = Callable[..., AnswerDrawing]


def test_every_token_s_text_carries_the_serial_under_which_its_states_are_stored(
    pages: Pages,
) -> None:
    pieces = list(pages.drawing(b"The", b" sea", b" is", b" wide.").pieces())
    said = [piece for piece in pieces if isinstance(piece, DrawnText) and piece]
    assert said == ["The", " sea", " is", " wide."]
    assert [piece.serial for piece in said] == [serial for serial, *_ in pages.stored]
    assert [token for _, _, token, _ in pages.stored] == [1, 2, 3, 4]  # each after it was read
    assert [first for *_, first in pages.stored] == [True, False, False, False]
    assert {run for _, run, _, _ in pages.stored} == {said[0].serial}
    assert pages.ended == [(said[-1].serial, said[0].serial)]


def test_the_tap_is_switched_once_an_answer_and_off_at_its_end(pages: Pages) -> None:
    list(pages.drawing(b"One", b" two.").pieces())
    assert pages.switched == [True, False]


def test_an_answer_that_is_dropped_switches_the_tap_off_and_ends_the_run(pages: Pages) -> None:
    begun = pages.drawing(b"One", b" two", b" three.")
    pieces = begun.draw_ahead()
    assert [next(pieces), next(pieces)] == ["One", " two"]
    begun.close()
    assert pages.switched == [True, False]
    assert len(pages.ended) == 1
    assert len(pages.stored) == 1  # the second was never read


def test_an_interrupted_answer_switches_the_tap_off_too(pages: Pages) -> None:
    begun = pages.drawing(b"One", b" two", b" three.")
    pieces = begun.pieces()
    next(pieces)
    pages.script.interrupted = True
    with pytest.raises(AnswerAbandoned):
        list(pieces)
    assert pages.switched == [True, False]


def test_a_drawing_that_never_began_touches_nothing(pages: Pages) -> None:
    pages.drawing(b"One").close()
    assert pages.switched == []
    assert pages.ended == []


def test_a_call_is_not_spoken_and_what_follows_is_a_run_of_its_own(pages: Pages) -> None:
    texts = (b"Wait.", b"<|tool_call>", b"call:time{}", b"<tool_call|>", b"It", b" is one.")
    pieces = list(pages.drawing(*texts, marks=(2, 4)).pieces())
    assert any(isinstance(piece, ToolCall) for piece in pieces)
    assert [token for _, _, token, _ in pages.stored] == [1, 5, 6]
    assert [first for *_, first in pages.stored] == [True, True, False]
    assert len(pages.ended) == 2
    assert len({run for _, run, _, _ in pages.stored}) == 2


def test_serials_rise_from_one_answer_to_the_next_and_from_one_start_to_the_next(
    pages: Pages,
) -> None:
    for _ in range(3):
        list(pages.drawing(*[b"x"] * 50).pieces())
    serials = [serial for serial, *_ in pages.stored]
    assert serials == sorted(set(serials))
    assert len(serials) == 150


def test_without_states_no_text_carries_a_serial() -> None:
    pieces = list(AnswerDrawing(Script(b"One", b" two."), {}, 9, lambda _: None).pieces())
    assert pieces[:2] == ["One", " two."]
    assert not any(isinstance(piece, DrawnText) for piece in pieces)
