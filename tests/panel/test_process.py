"""The panel's real process beside the real conductor and a room that plays the other parts."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance import processes, settings
from appliance.messages import Forget, Message, Mute, Seen, StopSpeaking, Talk
from appliance.supervisor import Supervisor

HERE = ("conductor", "listener", "playback", "panel")


class Room:
    """A box of four parts on the keyboard panel, and a finger."""

    def __init__(self, folder: Path) -> None:
        self.settings = settings.load(
            None,
            {
                "state_dir": str(folder),
                "panel": {"gpio": "keyboard", "mute_switch": True},
                "card": {"capture": "nowhere", "playback": "nowhere"},
            },
        )
        rows = tuple(processes.row(name) for name in HERE)
        self.box = Supervisor(self.settings, rows=rows, watchers=("room",))
        self.floor = self.box.floor()
        self.deaf_before_the_start = self.floor.deaf
        self.mail = self.box.channel("room")
        self.heard: list[Message] = []
        self.thread = threading.Thread(target=self.box.run)
        self.thread.start()
        self.place = folder / "panel"
        self.finger = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.finger.bind(str(folder / "finger"))
        self.finger.settimeout(5.0)

    def until(self, true: Callable[[], bool], wait_s: float = 20.0) -> bool:
        end = time.monotonic() + wait_s
        while time.monotonic() < end:
            self.heard += [
                seen.message if isinstance(seen, Seen) else seen for seen in self.mail.receive_all()
            ]
            if true():
                return True
            time.sleep(0.005)
        return False

    def push(self, word: str) -> None:
        self.finger.sendto(word.encode(), str(self.place))

    def light(self) -> str:
        return self.finger.recv(64).decode().split()[0]

    def close(self) -> None:
        self.box.request_stop()
        self.thread.join()
        self.box.close()
        self.finger.close()


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    room = Room(tmp_path_factory.mktemp("panel"))
    try:
        assert room.until(lambda: bool(room.box.parts["panel"].heart.is_ready))
        yield room
    finally:
        room.close()


def test_the_microphone_is_cut_until_the_switch_was_read(room: Room) -> None:
    assert room.deaf_before_the_start


def test_the_open_switch_cuts_and_the_light_says_so(room: Room) -> None:
    assert room.floor.switched_off
    room.push("hello")
    assert room.light() == "muted"


def test_the_closed_switch_lets_hear_and_the_next_opening_cuts_again(room: Room) -> None:
    room.push("on")
    assert room.until(lambda: not room.floor.deaf)
    room.heard.clear()
    room.push("off")
    assert room.until(lambda: room.floor.switched_off and Mute(True) in room.heard)
    room.push("on")
    assert room.until(lambda: not room.floor.deaf)


def test_a_press_is_raised_and_the_conductor_lets_it_go(room: Room) -> None:
    before = room.floor.press
    room.heard.clear()
    room.push("press")
    assert room.until(lambda: room.floor.press == before + 1)
    assert room.until(lambda: Talk(True) in room.heard and not room.floor.pressed)
    room.push("release")


def test_words_that_no_panel_knows_change_nothing(room: Room) -> None:
    before = room.floor.press
    for word in ("", "explode", "press" * 20, "\x00\x01"):
        room.push(word)
    room.push("hello")
    room.light()
    assert room.floor.press == before
    assert not any(isinstance(m, Forget | StopSpeaking) for m in room.heard)


def test_a_killed_panel_leaves_the_switch_as_it_was(room: Room) -> None:
    room.push("off")
    assert room.until(lambda: room.floor.switched_off)
    child = room.box.parts["panel"].child
    assert child is not None
    child.kill()
    assert room.until(lambda: room.box.parts["panel"].child is not child)
    assert room.floor.switched_off
    assert room.until(lambda: room.box.parts["panel"].heart.is_ready and room.floor.switched_off)
