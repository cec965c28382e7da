"""The panel's real process with the real conductor; the test plays the other parts."""

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


def test_the_microphone_is_off_until_the_switch_is_read(room: Room) -> None:
    assert room.cut_before_the_start


def test_the_open_switch_mutes_and_the_light_shows_it(room: Room) -> None:
    assert room.floor.switched_off
    room.push("hello")
    assert room.light() == "muted"


def test_the_closed_switch_unmutes_and_opening_it_mutes_again(room: Room) -> None:
    room.push("on")
    assert room.until(lambda: not room.floor.microphone_off)
    room.heard.clear()
    room.push("off")
    assert room.until(lambda: room.floor.switched_off and MuteSwitched(off=True) in room.heard)
    room.push("on")
    assert room.until(lambda: not room.floor.microphone_off)


def test_a_press_is_set_on_the_floor_and_taken_by_the_conductor(room: Room) -> None:
    before = room.floor.press
    room.heard.clear()
    room.push("press")
    assert room.until(lambda: room.floor.press == before + 1)
    assert room.until(lambda: TalkButton(True) in room.heard and not room.floor.pressed)
    room.push("release")


def test_unknown_words_change_nothing(room: Room) -> None:
    before = room.floor.press
    for word in ("", "explode", "press" * 20, "\x00\x01"):
        room.push(word)
    room.push("hello")
    room.light()
    assert room.floor.press == before
    assert not any(isinstance(m, Forget | StopSpeaking) for m in room.heard)


def test_an_endlessly_bouncing_button_is_reported_and_recovers(room: Room) -> None:
    room.heard.clear()
    for _ in range(BOUNCING_EDGES):
        room.push("press")
        room.push("release")
    assert room.until(lambda: ButtonFault("bouncing") in room.heard)
    saved = health.read_health(room.settings.state_path())
    assert saved is not None
    assert (saved.button, saved.switch) == ("bouncing", "closed")
    assert room.until(lambda: ButtonFault("") in room.heard)
    assert room.until(lambda: not room.floor.pressed)


def closed(room: Room) -> int:
    """Close the switch and wait until the microphone is on. Returns the panel's process id."""
    assert room.until(lambda: room.box.parts["panel"].announced)
    room.push("on")
    assert room.until(lambda: not room.floor.cut)
    child = room.box.parts["panel"].child
    assert child is not None
    return child.pid


def test_after_a_killed_panel_the_microphone_is_off_until_the_switch_is_read(room: Room) -> None:
    os.kill(closed(room), signal.SIGKILL)
    assert room.until(lambda: room.floor.cut, 1.0)
    assert room.until(lambda: room.box.parts["panel"].announced and not room.floor.panel_lost)
    assert room.floor.switched_off  # the keyboard's switch starts open
    closed(room)


def test_a_hung_panel_mutes_before_it_is_killed_and_unmutes_when_it_continues(room: Room) -> None:
    pid = closed(room)
    os.kill(pid, signal.SIGSTOP)
    assert room.until(lambda: room.floor.cut, SWITCH_LATE_S + 1.0)
    assert room.floor.panel_lost
    os.kill(pid, signal.SIGCONT)
    assert room.until(lambda: not room.floor.cut, 2.0)
    assert closed(room) == pid


def test_a_crash_looping_panel_keeps_the_microphone_off(room: Room) -> None:
    closed(room)
    part, microphone_on = room.box.parts["panel"], [not room.floor.microphone_off]
    for _ in range(6):
        assert room.until(lambda: part.child is not None and part.child.pid != 0)
        if (child := part.child) is not None:
            child.kill()
        assert room.until(lambda: part.child is not child)
        assert room.until(lambda: room.floor.microphone_off, 1.0)  # the supervisor's next step
        time.sleep(0.05)
        microphone_on.append(not room.floor.microphone_off)
    assert microphone_on == [True] + [False] * 6
    assert part.failed
    assert room.until(lambda: part.announced, 30.0)  # it is restarted nevertheless
    assert not part.failed
