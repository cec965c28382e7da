"""The panel's real process beside the real conductor and a room that plays the other parts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from appliance.messages.commands import ButtonFault, Forget, MuteSwitched, StopSpeaking, TalkButton
from appliance.panel import health
from appliance.panel.button import BOUNCING_EDGES
from appliance.runtime.supervisor import SWITCH_LATE_S
from tests.panel.box import Room

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    room = Room(tmp_path_factory.mktemp("panel"))
    try:
        assert room.until(lambda: bool(room.box.parts["panel"].heart.is_ready))
        yield room
    finally:
        room.close()


def test_the_microphone_is_cut_until_the_switch_was_read(room: Room) -> None:
    assert room.cut_before_the_start


def test_the_open_switch_cuts_and_the_light_says_so(room: Room) -> None:
    assert room.floor.switched_off
    room.push("hello")
    assert room.light() == "muted"


def test_the_closed_switch_lets_hear_and_the_next_opening_cuts_again(room: Room) -> None:
    room.push("on")
    assert room.until(lambda: not room.floor.microphone_off)
    room.heard.clear()
    room.push("off")
    assert room.until(lambda: room.floor.switched_off and MuteSwitched(off=True) in room.heard)
    room.push("on")
    assert room.until(lambda: not room.floor.microphone_off)


def test_a_press_is_raised_and_the_conductor_lets_it_go(room: Room) -> None:
    before = room.floor.press
    room.heard.clear()
    room.push("press")
    assert room.until(lambda: room.floor.press == before + 1)
    assert room.until(lambda: TalkButton(True) in room.heard and not room.floor.pressed)
    room.push("release")


def test_words_that_no_panel_knows_change_nothing(room: Room) -> None:
    before = room.floor.press
    for word in ("", "explode", "press" * 20, "\x00\x01"):
        room.push(word)
    room.push("hello")
    room.light()
    assert room.floor.press == before
    assert not any(isinstance(m, Forget | StopSpeaking) for m in room.heard)


def test_a_button_that_bounces_without_end_is_told_to_everybody_and_works_again(
    room: Room,
) -> None:
    room.heard.clear()
    for _ in range(BOUNCING_EDGES):
        room.push("press")
        room.push("release")
    assert room.until(lambda: ButtonFault("bouncing") in room.heard)
    told = health.read_health(room.place.parent)
    assert told is not None
    assert (told.button, told.switch) == ("bouncing", "closed")
    assert room.until(lambda: ButtonFault("") in room.heard)
    assert room.until(lambda: not room.floor.pressed)


def closed(room: Room) -> int:
    """The switch is closed and the microphone hears. Returns the panel's process id."""
    assert room.until(lambda: room.box.parts["panel"].announced)
    room.push("on")
    assert room.until(lambda: not room.floor.cut)
    child = room.box.parts["panel"].child
    assert child is not None
    return child.pid


def test_a_panel_that_is_killed_cuts_until_the_next_one_has_read_the_switch(room: Room) -> None:
    os.kill(closed(room), signal.SIGKILL)
    assert room.until(lambda: room.floor.cut, 1.0)
    assert room.until(lambda: room.box.parts["panel"].announced and not room.floor.panel_lost)
    assert room.floor.switched_off  # the keyboard's switch begins open
    closed(room)


def test_a_panel_that_hangs_cuts_before_it_is_killed_and_hears_when_it_goes_on(room: Room) -> None:
    pid = closed(room)
    os.kill(pid, signal.SIGSTOP)
    assert room.until(lambda: room.floor.cut, SWITCH_LATE_S + 1.0)
    assert room.floor.panel_lost
    os.kill(pid, signal.SIGCONT)
    assert room.until(lambda: not room.floor.cut, 2.0)
    assert closed(room) == pid


def test_a_panel_that_keeps_dying_never_lets_the_microphone_hear(room: Room) -> None:
    closed(room)
    part, hears = room.box.parts["panel"], [not room.floor.microphone_off]
    for _ in range(6):
        assert room.until(lambda: part.child is not None)
        if (child := part.child) is not None:
            child.kill()
        assert room.until(lambda: part.child is not child)
        assert room.until(lambda: room.floor.microphone_off, 1.0)  # the supervisor's own next step
        time.sleep(0.05)
        hears.append(not room.floor.microphone_off)
    assert hears == [True] + [False] * 6
    assert part.failed
    assert room.until(lambda: part.announced, 30.0)  # it is tried again all the same
    assert not part.failed
