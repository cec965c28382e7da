"""The panel between its wires and the others: gestures to floor, conductor, disk and light."""

from __future__ import annotations

import errno
import select
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from appliance import settings
from appliance.errors import PanelError
from appliance.messages.commands import (
    BoxStatus,
    ButtonFault,
    ButtonPressed,
    Forget,
    Restart,
    StateChanged,
    StatusWanted,
    TalkButton,
)
from appliance.messages.tools import TimersStatus
from appliance.messages.trying import ShowLight, SoundRecording
from appliance.models.store import ModelStore
from appliance.panel import health
from appliance.panel.button import BOUNCING_EDGES, DOUBLE_S, Gesture
from appliance.panel.button_actions import TAP_S
from appliance.panel.keyboard_socket import HELLO, place
from appliance.panel.machine_indicators import LOOK_S, MachineIndicators
from appliance.panel.panel import Panel
from appliance.runtime import factory_reset
from appliance.runtime.machine import Machine
from appliance.runtime.worker import Worker
from tests.dialog.desk import Desk


def desk_in(folder: Path, *, mute_switch: bool = False) -> Desk:
    panel = {"gpio": "keyboard", "mute_switch": mute_switch, "night": ""}
    return Desk("panel", settings.load(None, {"state_dir": str(folder), "panel": panel}))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


@pytest.fixture
def panel(desk: Desk, tmp_path: Path) -> Iterator[Panel]:
    made = Panel(cast("Worker", desk))
    store = ModelStore.of(desk.settings)
    cool = MachineIndicators(
        Machine(tmp_path), store, tmp_path / "trial", tmp_path / "open", tmp_path
    )
    made._indicators = cool  # whatever the machine of the test is like
    made.run_once(0.0)
    yield made
    made.close()
    desk.close()


class Finger:
    """At the panel's socket: presses, and sees the light."""

    def __init__(self, panel: Panel, desk: Desk, folder: Path) -> None:
        self._panel = panel
        self._wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._wire.bind(str(folder / "finger"))
        self._wire.connect(str(place(desk.settings)))

    def push(self, word: str, now_s: float | None = None) -> str:
        """The light's pattern after the panel has heard that."""
        self._wire.send(word.encode())
        self._panel.run_once(time.monotonic() if now_s is None else now_s)
        seen = ""
        while select.select([self._wire], [], [], 0)[0]:
            seen = self._wire.recv(64).decode().split()[0]
        return seen

    def close(self) -> None:
        self._wire.close()


@pytest.fixture
def finger(panel: Panel, desk: Desk, tmp_path: Path) -> Iterator[Finger]:
    made = Finger(panel, desk, tmp_path)
    yield made
    made.close()


def test_a_reset_forgets_notes_what_is_to_be_erased_and_begins_anew(
    desk: Desk, panel: Panel, tmp_path: Path
) -> None:
    (tmp_path / "echo.npz").touch()
    panel._handle_gestures(["reset", "cancelled"], 0.0)
    assert desk.sent == [Forget()], "at once"
    until(lambda: stepped(panel) and Restart() in desk.sent)
    assert (tmp_path / factory_reset.NOTE).exists()
    factory_reset.complete_reset(tmp_path)  # the start that follows
    assert not (tmp_path / "echo.npz").exists()


def stepped(panel: Panel) -> bool:
    panel.run_once(1.0)
    return True


def until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end_s, "it never came"
        time.sleep(0.005)


def test_a_reset_that_is_not_finished_is_in_the_light(finger: Finger, tmp_path: Path) -> None:
    factory_reset.request_reset(tmp_path)
    assert finger.push(HELLO, LOOK_S + 1.0) == "failed"


def test_a_warning_is_in_the_light_until_nothing_comes_of_it(panel: Panel, finger: Finger) -> None:
    warnings: tuple[Gesture, ...] = ("setup_warning", "reset_warning", "reset_armed")
    for warning in warnings:
        panel._handle_gestures([warning], 0.0)
        assert finger.push(HELLO) == warning
    panel._handle_gestures(["cancelled"], 0.0)
    assert finger.push(HELLO) == "starting"


def test_set_up_is_in_the_light_until_the_next_press(panel: Panel, finger: Finger) -> None:
    panel._handle_gestures(["setup"], 0.0)
    assert finger.push(HELLO) == "setup"
    assert finger.push("press") != "setup"


@pytest.mark.parametrize(
    ("standing", "light"),
    [
        (BoxStatus("open", False, 0.8), "idle"),
        (BoxStatus("open", False, 0.8, starting=True), "starting"),
        (BoxStatus("open", False, 0.8, house=False), "no_broker"),
        (BoxStatus("open", False, 0.8, broken=("listener",)), "failed"),
        (BoxStatus("open", False, 0.8, broken=("the microphone",)), "no_card"),
        (BoxStatus("open", False, 0.8, broken=("the loudspeaker", "the microphone")), "no_card"),
        (BoxStatus("open", False, 0.8, broken=("the loudspeaker", "words")), "failed"),
        (BoxStatus("open", True, 0.8, broken=("the microphone",)), "muted"),
    ],
)
def test_how_the_box_stands_is_in_the_light(
    desk: Desk, finger: Finger, standing: BoxStatus, light: str
) -> None:
    desk.arrived = [StateChanged("idle", 1, 0), standing]
    assert finger.push(HELLO) == light


def test_a_bell_is_in_the_light_also_between_two_rings(desk: Desk, finger: Finger) -> None:
    desk.arrived = [StateChanged("speaking", 1, 0), TimersStatus(ringing=True)]
    assert finger.push(HELLO) == "ringing"
    desk.arrived = [StateChanged("idle", 1, 0)]
    assert finger.push(HELLO) == "ringing"
    desk.arrived = [StateChanged("listening", 1, 0)]
    assert finger.push(HELLO) == "listening"
    desk.arrived = [StateChanged("idle", 1, 0), TimersStatus()]
    assert finger.push(HELLO) == "idle"


def test_the_light_says_that_the_microphone_is_recorded_for_as_long_as_it_is(
    desk: Desk, finger: Finger
) -> None:
    desk.arrived = [StateChanged("idle", 1, 0), SoundRecording(5, on=True), ShowLight("muted")]
    assert finger.push(HELLO) == "recording", "and shows nothing else on request"
    desk.arrived = [SoundRecording(5, on=False)]
    assert finger.push(HELLO) == "idle"


def test_a_row_of_the_light_is_shown_on_request_and_a_change_ends_it(
    desk: Desk, finger: Finger
) -> None:
    desk.arrived = [StateChanged("idle", 1, 0), ShowLight("no_card")]
    assert finger.push(HELLO) == "no_card"
    desk.arrived = [StateChanged("listening", 1, 0)]
    assert finger.push(HELLO) == "listening"


def test_a_press_raises_the_floor_and_is_noted(desk: Desk, finger: Finger) -> None:
    before = desk.floor.press
    finger.push("press")
    assert desk.floor.press == before + 1
    told = health.read_health(desk.settings.state_path())
    assert told is not None
    assert told.pressed
    assert told.pressed_s > 0.0


def test_a_question_that_is_held_over_an_answer_is_not_stopped(desk: Desk, finger: Finger) -> None:
    desk.arrived = [BoxStatus("push_to_talk", False, 0.8), StateChanged("speaking", 1, 0)]
    finger.push(HELLO)
    finger.push("press")
    time.sleep(TAP_S + 0.05)
    finger.push("release")
    finger.push(HELLO, time.monotonic() + DOUBLE_S + 0.1)
    assert desk.sent == [TalkButton(True), TalkButton(False), ButtonPressed("press")]


def test_a_conductor_that_takes_over_is_told_what_is_wrong_with_the_button(
    desk: Desk, finger: Finger
) -> None:
    for _ in range(BOUNCING_EDGES):
        finger.push("press")
        finger.push("release")
    assert desk.sent.count(ButtonFault("bouncing")) == 1
    desk.arrived = [StatusWanted()]
    finger.push(HELLO)
    assert desk.sent.count(ButtonFault("bouncing")) == 2


def test_a_folder_that_cannot_be_written_stops_no_panel(
    finger: Finger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / f".{health.FILE}.new").mkdir()
    finger.push("press")
    for _ in range(2):
        assert finger.push(HELLO)
    assert len([r for r in caplog.records if "cannot be written" in r.message]) == 1


def test_a_switch_that_can_no_longer_be_read_cuts(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, mute_switch=True)
    panel = Panel(cast("Worker", desk))
    panel._gpio.drive("mute_switch", False)
    panel.run_once(time.monotonic())
    panel.run_once(time.monotonic() + 1.0)
    before = desk.floor.switched_off
    panel._gpio._factory.lost = OSError(errno.ENODEV, "No such device")
    panel._gpio._factory.when_lost()
    with pytest.raises(PanelError, match="gone"):
        panel.run_once(time.monotonic() + 2.0)
    assert (before, desk.floor.switched_off) == (False, True)
    panel.close()
    desk.close()
