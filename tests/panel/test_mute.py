"""The long press and the switch mute the microphone in any state of the other processes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from appliance import settings
from appliance.messages.commands import BoxStatus, Mute, MuteSwitched, StateChanged
from appliance.models.store import ModelStore
from appliance.panel.button import LONG_S
from appliance.panel.keyboard_socket import NAME
from appliance.panel.machine_indicators import MachineIndicators
from appliance.panel.panel import Panel
from appliance.runtime import process_table
from appliance.runtime.machine import Machine
from appliance.runtime.worker import Worker
from tests.dialog.desk import Desk
from tests.dialog.life import Life

MUTED, HEARING = BoxStatus("open", True, 0.8), BoxStatus("open", False, 0.8)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    panel = {"gpio": "keyboard", "mute_switch": True, "night": ""}
    made = Desk("panel", settings.load(None, {"state_dir": str(tmp_path), "panel": panel}))
    made.floor.muted = False
    yield made
    made.close()


@pytest.fixture
def panel(desk: Desk, tmp_path: Path) -> Iterator[Panel]:
    made = Panel(cast("Worker", desk))
    made._indicators = MachineIndicators(
        Machine(tmp_path), ModelStore.of(desk.settings), tmp_path, tmp_path
    )
    made._gpio.drive("mute_switch", False)
    run_after(made)
    run_after(made, 1.0)
    desk.sent.clear()
    assert not desk.floor.microphone_off
    yield made
    made.close()


def run_after(panel: Panel, seconds: float = 0.0) -> None:
    """Run the panel once, `seconds` after now; the wires use this machine's clock."""
    panel.run_once(time.monotonic() + seconds)


def long_press(panel: Panel) -> None:
    panel._handle_gestures(["press"], 0.0)
    panel._handle_gestures(["long"], 0.0)


def test_a_long_press_mutes_before_the_conductor_answers(desk: Desk, panel: Panel) -> None:
    desk.arrived = [StateChanged("idle", 1, 0), HEARING]
    run_after(panel, 3.0)
    long_press(panel)
    assert desk.floor.shut
    assert desk.floor.microphone_off
    assert Mute(on=True) in desk.sent
    desk.arrived = [HEARING]  # sent by the conductor before it received the press
    run_after(panel, 4.0)
    assert desk.floor.microphone_off


def test_the_next_long_press_unmutes_through_the_conductor_only(desk: Desk, panel: Panel) -> None:
    long_press(panel)
    desk.arrived = [MUTED]
    run_after(panel, 3.0)
    desk.sent.clear()
    long_press(panel)
    assert Mute(on=False) in desk.sent
    assert (desk.floor.shut, desk.floor.microphone_off) == (
        True,
        True,
    )  # until the conductor opens it
    desk.floor.opened = desk.floor.closed
    assert (desk.floor.shut, desk.floor.microphone_off) == (False, False)


def test_before_the_conductors_first_status_a_long_press_can_only_mute(
    desk: Desk, panel: Panel
) -> None:
    desk.floor.muted = True  # as at the start, when the state is unknown
    long_press(panel)
    assert Mute(on=True) in desk.sent
    assert Mute(on=False) not in desk.sent


def test_a_long_press_on_a_muted_box_closes_nothing(desk: Desk, panel: Panel) -> None:
    desk.arrived = [MUTED]
    run_after(panel, 3.0)
    long_press(panel)
    assert not desk.floor.shut


def test_the_switch_sends_no_mute_request(desk: Desk, panel: Panel) -> None:
    switched_off_values = []
    for off in (True, False):
        panel._gpio.drive("mute_switch", off)
        run_after(panel, 3.0)
        run_after(panel, 4.0)
        switched_off_values.append(desk.floor.switched_off)
    assert switched_off_values == [True, False]
    assert desk.sent == [MuteSwitched(off=True), MuteSwitched(off=False)]


# ── real processes ───────────────────────────────────────────────────────────────────────────
class Finger:
    """A client of the keyboard panel's socket."""

    def __init__(self, life: Life) -> None:
        self._place = str(life.folder / "state" / NAME)
        self._wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def push(self, word: str) -> bool:
        """Send `word`. Returns False if no panel is running."""
        try:
            self._wire.sendto(word.encode(), self._place)
        except OSError:
            return False
        return True


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    made = Life(tmp_path, "conductor", "panel", panel={"gpio": "keyboard", "mute_switch": True})
    yield made
    made.kill()


@pytest.mark.process
def test_a_long_press_mutes_while_the_conductor_hangs_and_its_successor_knows(life: Life) -> None:
    finger = Finger(life)
    life.until(lambda: finger.push("on") and not life.microphone_off())
    life.until(lambda: life.status)
    conductor = life.pid("conductor")
    os.kill(conductor, signal.SIGSTOP)
    began_s = time.monotonic()
    assert finger.push("press")
    life.until(life.microphone_off)
    late_s = time.monotonic() - began_s - LONG_S
    assert finger.push("release")
    assert late_s < 1.0  # the process table lets a conductor hang for 5 s
    life.until(lambda: life.pid("conductor") != conductor)
    life.until(lambda: life.status[2:3] == ["True"])
    assert life.microphone_off()
    life.kill()
    life.start()
    finger = Finger(life)
    life.until(lambda: finger.push("on") and life.status[2:3] == ["True"])
    life.until(lambda: not life.floor().cut)
    assert life.microphone_off()
    life.tell(Mute(on=False))
    assert not life.microphone_off()


@pytest.mark.process
def test_without_a_panel_the_microphone_stays_off(life: Life) -> None:
    finger = Finger(life)
    life.until(lambda: finger.push("on") and not life.microphone_off())
    began_s = time.monotonic()
    while time.monotonic() - began_s < 3.0:  # kill each panel before it has read the switch
        for title, pid in life.processes().items():
            if title.endswith(("panel", "appliance.runtime.worker")):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if time.monotonic() - began_s > 1.0:
            assert life.microphone_off()
    life.until(lambda: finger.push("on") and not life.microphone_off())
    assert life.status[2:3] == ["False"]  # the box was not muted by the owner


@pytest.mark.process
def test_a_hung_panel_mutes_within_its_limit_and_the_next_one_reads_the_switch(life: Life) -> None:
    finger = Finger(life)
    life.until(lambda: finger.push("on") and not life.microphone_off())
    os.kill(life.pid("panel"), signal.SIGSTOP)
    began_s = time.monotonic()
    life.until(life.microphone_off)
    assert time.monotonic() - began_s < process_table.row("panel").silent_s + 2.0
    life.until(lambda: finger.push("on") and not life.microphone_off())
