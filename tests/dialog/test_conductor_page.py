"""The conductor and the page: what is passed on, and what the owner does not want from there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.messages.commands import Ask, BoxStatus, Mute, SetVolume, StateChanged
from appliance.messages.hearing import Onset
from appliance.messages.thinking import Think, ThinkerReady
from appliance.messages.tools import CancelTimer, TimersList, ToolCalled
from appliance.messages.viewing import LiveView, SoundLevels
from appliance.settings import load
from tests.supervised import PlayedParts

pytestmark = pytest.mark.process

LEVELS = SoundLevels(0, (-40,) * 5, (-96,) * 5)


@contextmanager
def box(folder: Path, *, unmute: bool = True) -> Iterator[PlayedParts]:
    told = {"state_dir": str(folder), "page": {"unmute": unmute}}
    made = PlayedParts(load(None, told), ("conductor",), ("playback", "listener", "page", "panel"))
    try:
        yield made
    finally:
        made.close()


def test_the_page_cannot_unmute_when_the_settings_forbid_it(tmp_path: Path) -> None:
    with box(tmp_path, unmute=False) as made:
        made.say("page", Mute(on=True))
        made.until(lambda: made.floor.muted)
        made.say("page", Mute(on=False), SetVolume(0.25))
        assert made.get("playback", SetVolume).volume == 0.25, "what came after it was done"
        assert made.floor.muted
        made.say("panel", Mute(on=False))
        made.until(lambda: not made.floor.muted)


def test_the_page_can_unmute_by_default(tmp_path: Path) -> None:
    with box(tmp_path) as made:
        made.say("page", Mute(on=True))
        made.until(lambda: made.floor.muted)
        made.say("page", Mute(on=False))
        made.until(lambda: not made.floor.muted)


def test_a_live_view_starts_the_listeners_measurement_and_receives_levels_and_moments(
    tmp_path: Path,
) -> None:
    with box(tmp_path) as made:
        made.say("listener", LEVELS)
        made.say("page", LiveView(on=True))
        assert made.get("listener", LiveView) == LiveView(on=True)
        made.say("listener", LEVELS, Onset(1, 16_000, speaking=False))
        assert made.get("page", SoundLevels) == LEVELS
        assert made.get("page", Onset).serial == 1
        made.say("page", LiveView(on=False))
        assert made.get("listener", LiveView) == LiveView(on=False)


def test_the_page_receives_the_box_status(tmp_path: Path) -> None:
    with box(tmp_path) as made:
        made.say("page", SetVolume(0.5))
        while made.get("page", BoxStatus).volume != 0.5:
            continue
        made.say("panel", Mute(on=True))
        while made.get("page", StateChanged).state != "muted":
            continue


def test_the_page_lists_the_timers_and_cancels_one(tmp_path: Path) -> None:
    told = {"state_dir": str(tmp_path)}
    parts = ("playback", "listener", "page", "panel", "thinker", "speaker")
    made = PlayedParts(load(None, told), ("conductor",), parts)
    try:
        made.say("thinker", ThinkerReady("pocket"))
        made.say("page", Ask("Five minutes for the eggs, please."))
        turn = made.get("thinker", Think).turn
        made.say("thinker", ToolCalled(turn, 0, "timer", {"minutes": 5, "name": "eggs"}))
        (timer,) = made.get("page", TimersList).timers
        assert (timer.name, timer.length_s) == ("eggs", 300.0)
        made.say("page", CancelTimer(timer.number))
        assert made.get("page", TimersList).timers == ()
    finally:
        made.close()
