"""The panel turns gestures into changes of the floor, messages, files and light patterns."""

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
from appliance.atomic_file import fresh_name
from appliance.background_file import write_private
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
    made._indicators = cool  # independent of the test's machine
    made.run_once(0.0)
    yield made
    made.close()
    desk.close()


class Finger:
    """A client of the panel's socket that sends presses and receives the light."""

    def __init__(self, panel: Panel, desk: Desk, folder: Path) -> None:
        self._panel = panel
        self._wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._wire.bind(str(folder / "finger"))
        self._wire.connect(str(place(desk.settings)))

    def push(self, word: str, now_s: float | None = None) -> str:
        """Send `word` and run the panel. Returns the light's pattern."""
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


def test_a_reset_forgets_requests_erasure_and_restarts(
    desk: Desk, panel: Panel, tmp_path: Path
) -> None:
    write_private(tmp_path / "listener/echo.npz", b"")
    panel._handle_gestures(["reset", "cancelled"], 0.0)
    assert desk.sent == [Forget()], "immediately"
    until(lambda: stepped(panel) and Restart() in desk.sent)
    assert (tmp_path / factory_reset.NOTE).exists()
    factory_reset.complete_reset(tmp_path)  # as at the next start
    assert not (tmp_path / "listener/echo.npz").exists()


def stepped(panel: Panel) -> bool:
    panel.run_once(1.0)
    return True


def until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end_s, "timeout"
        time.sleep(0.005)


def test_the_light_shows_an_unfinished_reset(finger: Finger, tmp_path: Path) -> None:
    factory_reset.request_reset(tmp_path)
    assert finger.push(HELLO, LOOK_S + 1.0) == "failed"


def test_the_light_shows_a_warning_until_it_is_cancelled(panel: Panel, finger: Finger) -> None:
    warnings: tuple[Gesture, ...] = ("setup_warning", "reset_warning", "reset_armed")
    for warning in warnings:
        panel._handle_gestures([warning], 0.0)
        assert finger.push(HELLO) == warning
    panel._handle_gestures(["cancelled"], 0.0)
    assert finger.push(HELLO) == "starting"


def test_the_light_shows_set_up_until_the_next_press(panel: Panel, finger: Finger) -> None:
    panel._handle_gestures(["setup"], 0.0)
    assert finger.push(HELLO) == "setup"
    assert finger.push("press") != "setup"


@pytest.mark.parametrize(
    ("box_status", "light"),
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
def test_the_light_shows_the_status_of_the_box(
    desk: Desk, finger: Finger, box_status: BoxStatus, light: str
) -> None:
    desk.arrived = [StateChanged("idle", 1, 0), box_status]
    assert finger.push(HELLO) == light


def test_the_light_shows_a_ringing_timer_also_between_rings(desk: Desk, finger: Finger) -> None:
    desk.arrived = [StateChanged("speaking", 1, 0), TimersStatus(ringing=True)]
    assert finger.push(HELLO) == "ringing"
    desk.arrived = [StateChanged("idle", 1, 0)]
    assert finger.push(HELLO) == "ringing"
    desk.arrived = [StateChanged("listening", 1, 0)]
    assert finger.push(HELLO) == "listening"
    desk.arrived = [StateChanged("idle", 1, 0), TimersStatus()]
    assert finger.push(HELLO) == "idle"


def test_the_light_shows_a_recording_while_it_lasts(desk: Desk, finger: Finger) -> None:
    desk.arrived = [StateChanged("idle", 1, 0), SoundRecording(5, on=True), ShowLight("muted")]
    assert finger.push(HELLO) == "recording", "a requested pattern is refused"
    desk.arrived = [SoundRecording(5, on=False)]
    assert finger.push(HELLO) == "idle"


def test_a_pattern_is_shown_on_request_until_the_state_changes(desk: Desk, finger: Finger) -> None:
    desk.arrived = [StateChanged("idle", 1, 0), ShowLight("no_card")]
    assert finger.push(HELLO) == "no_card"
    desk.arrived = [StateChanged("listening", 1, 0)]
    assert finger.push(HELLO) == "listening"


def test_a_press_changes_the_floor_and_is_recorded(desk: Desk, finger: Finger) -> None:
    before = desk.floor.press
    finger.push("press")
    assert desk.floor.press == before + 1
    saved = health.read_health(desk.settings.state_path())
    assert saved is not None
    assert saved.pressed
    assert saved.pressed_s > 0.0


def test_a_long_hold_over_an_answer_does_not_stop_the_new_question(
    desk: Desk, finger: Finger
) -> None:
    desk.arrived = [BoxStatus("push_to_talk", False, 0.8), StateChanged("speaking", 1, 0)]
    finger.push(HELLO)
    finger.push("press")
    time.sleep(TAP_S + 0.05)
    finger.push("release")
    finger.push(HELLO, time.monotonic() + DOUBLE_S + 0.1)
    assert desk.sent == [TalkButton(True), TalkButton(False), ButtonPressed("press")]


def test_a_restarted_conductor_learns_of_the_buttons_fault(desk: Desk, finger: Finger) -> None:
    for _ in range(BOUNCING_EDGES):
        finger.push("press")
        finger.push("release")
    assert desk.sent.count(ButtonFault("bouncing")) == 1
    desk.arrived = [StatusWanted()]
    finger.push(HELLO)
    assert desk.sent.count(ButtonFault("bouncing")) == 2


def test_an_unwritable_folder_does_not_stop_the_panel(
    finger: Finger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fresh_name(tmp_path / health.FILE).mkdir()
    finger.push("press")
    for _ in range(2):
        assert finger.push(HELLO)
    assert len([r for r in caplog.records if "cannot be written" in r.message]) == 1


def test_a_switch_that_becomes_unreadable_mutes(tmp_path: Path) -> None:
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
