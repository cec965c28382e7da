"""The conductor and the page: forwarded messages, and commands that the settings forbid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.messages.commands import (
    Announced,
    Ask,
    BoxStatus,
    ButtonPressed,
    Mute,
    Say,
    SetVolume,
    StateChanged,
    StopSpeaking,
)
from appliance.messages.hearing import Onset
from appliance.messages.playback import PlaybackFinished, PlaybackStarted
from appliance.messages.speech import Speak, Spoken
from appliance.messages.thinking import Think, ThinkerReady
from appliance.messages.tools import CancelTimer, TimersList, ToolCalled
from appliance.messages.viewing import LiveView, SoundLevels
from appliance.settings import load
from tests.supervised import PlayedParts

pytestmark = pytest.mark.process

LEVELS = SoundLevels(0, (-40,) * 5, (-96,) * 5)


@contextmanager
def running_box(folder: Path, *, unmute: bool = True) -> Iterator[PlayedParts]:
    config = {"state_dir": str(folder), "page": {"unmute": unmute}}
    box = PlayedParts(load(None, config), ("conductor",), ("playback", "listener", "page", "panel"))
    try:
        yield box
    finally:
        box.close()


def test_the_page_cannot_unmute_when_the_settings_forbid_it(tmp_path: Path) -> None:
    with running_box(tmp_path, unmute=False) as box:
        box.say("page", Mute(on=True))
        box.until(lambda: box.floor.muted)
        box.say("page", Mute(on=False), SetVolume(0.25))
        assert box.get("playback", SetVolume).volume == 0.25, "the next command is executed"
        assert box.floor.muted
        box.say("panel", Mute(on=False))
        box.until(lambda: not box.floor.muted)


def test_the_page_can_unmute_by_default(tmp_path: Path) -> None:
    with running_box(tmp_path) as box:
        box.say("page", Mute(on=True))
        box.until(lambda: box.floor.muted)
        box.say("page", Mute(on=False))
        box.until(lambda: not box.floor.muted)


def test_a_live_view_starts_the_listeners_measurement_and_receives_levels_and_moments(
    tmp_path: Path,
) -> None:
    with running_box(tmp_path) as box:
        box.say("listener", LEVELS)
        box.say("page", LiveView(on=True))
        assert box.get("listener", LiveView) == LiveView(on=True)
        box.say("listener", LEVELS, Onset(1, 16_000, speaking=False))
        assert box.get("page", SoundLevels) == LEVELS
        assert box.get("page", Onset).serial == 1
        box.say("page", LiveView(on=False))
        assert box.get("listener", LiveView) == LiveView(on=False)


def test_the_page_is_told_whether_its_announcement_was_heard_before_it_hears_of_the_press(
    tmp_path: Path,
) -> None:
    parts = ("playback", "listener", "page", "panel", "thinker", "speaker")
    box = PlayedParts(load(None, {"state_dir": str(tmp_path)}), ("conductor",), parts)
    try:
        for heard in (True, False):
            box.say("page", Say("Somebody wants to open my page.", number=7))
            turn = box.get("speaker", Speak).turn
            box.say("speaker", Spoken(turn, 0, 0, 16_000, 1.0))
            assert box.get("page", Spoken).turn == turn
            box.say("playback", PlaybackStarted(turn, 1))
            if heard:
                box.say("playback", PlaybackFinished(turn, 16_000, 1))
            else:
                box.say("panel", StopSpeaking())
            assert box.get("page", Announced) == Announced(7, heard)
            box.say("panel", ButtonPressed("press"))
            assert box.get("page", ButtonPressed).kind == "press"
    finally:
        box.close()


def test_the_page_receives_the_box_status(tmp_path: Path) -> None:
    with running_box(tmp_path) as box:
        box.say("page", SetVolume(0.5))
        while box.get("page", BoxStatus).volume != 0.5:
            continue
        box.say("panel", Mute(on=True))
        while box.get("page", StateChanged).state != "muted":
            continue


def test_the_page_lists_the_timers_and_cancels_one(tmp_path: Path) -> None:
    config = {"state_dir": str(tmp_path)}
    parts = ("playback", "listener", "page", "panel", "thinker", "speaker")
    box = PlayedParts(load(None, config), ("conductor",), parts)
    try:
        box.say("thinker", ThinkerReady("pocket"))
        box.say("page", Ask("Five minutes for the eggs, please."))
        turn = box.get("thinker", Think).turn
        box.say("thinker", ToolCalled(turn, 0, "timer", {"minutes": 5, "name": "eggs"}))
        (timer,) = box.get("page", TimersList).timers
        assert (timer.name, timer.length_s) == ("eggs", 300.0)
        box.say("page", CancelTimer(timer.number))
        assert box.get("page", TimersList).timers == ()
    finally:
        box.close()
