"""The floor: words in memory shared by all processes."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.runtime.ipc import floor
from appliance.runtime.ipc.floor import Floor

ROOT = Path(__file__).parents[3]


def test_the_floor_is_free_at_first() -> None:
    words = Floor(floor.create())
    assert (words.turn, words.hold, words.released) == (0, 0, 0)
    assert not words.held


def test_the_microphone_is_muted_until_its_state_is_known() -> None:
    words = Floor(floor.create())
    assert (words.muted, words.microphone_off, words.mute_unknown) == (True, True, True)
    for known in (False, True):
        words.muted = known
        assert (words.muted, words.microphone_off, words.mute_unknown) == (known, known, False)


def test_each_word_is_independent() -> None:
    words = Floor(floor.create())
    words.turn, words.hold, words.released, words.muted = 2**63, 7, 6, True
    assert (words.turn, words.hold, words.released, words.muted) == (2**63, 7, 6, True)


def test_an_onset_holds_the_floor_until_its_serial_is_released() -> None:
    words = Floor(floor.create())
    words.hold = 5
    assert words.held
    words.released = 5
    assert not words.held


def test_a_press_is_pending_until_it_is_taken() -> None:
    words = Floor(floor.create())
    words.press += 1
    assert (words.pressed, words.held) == (True, False)
    words.press_taken = words.press
    assert not words.pressed


def test_switch_long_press_and_conductor_each_turn_the_microphone_off() -> None:
    words = Floor(floor.create())
    for muted, switched_off, closed in itertools.product((False, True), (False, True), (0, 1)):
        words.muted, words.switched_off, words.closed = muted, switched_off, closed
        assert words.microphone_off == (muted or switched_off or bool(closed))


def test_the_microphone_stays_off_until_the_latest_closing_is_opened() -> None:
    words = Floor(floor.create())
    words.muted = False
    words.closed += 1
    known = words.closed
    words.closed += 1
    words.opened = known
    assert words.microphone_off
    words.opened = words.closed
    assert not words.microphone_off


@pytest.mark.process
def test_another_process_sees_the_words() -> None:
    fd = floor.create()
    words = Floor(fd)
    words.turn = 41
    code = f"from appliance.runtime.ipc.floor import Floor\nf = Floor({fd})\nf.hold = f.turn + 1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], pass_fds=[fd], check=True, env=environment)
    assert words.hold == 42
