"""The page Try: what is requested from the box, what is refused, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from appliance.cli.check_beside import BesideBox
from appliance.messages.commands import BoxStatus, StopSpeaking
from appliance.messages.hearing import WakeNearMiss
from appliance.messages.trying import (
    EchoBand,
    EchoMeasured,
    EndTrial,
    ShowLight,
    SoundRecorded,
    StartTrial,
    TrialRefused,
)
from appliance.page.findings import PROGRAM
from appliance.page.try_state import UNSEEN_S
from appliance.panel.light import PATTERNS
from appliance.pcm import RATE_HZ
from tests.page.desk import Desk
from tests.page.test_findings import FOUND


def ask(desk: Desk, do: str, **words: str) -> int:
    return desk.post("/try", {"do": do, "token": desk.token, **words}).status


def test_an_unpaired_browser_neither_sees_nor_starts_a_trial(desk: Desk) -> None:
    assert "/try" not in desk.text("/try")
    assert desk.post("/try", {"do": "check"}).status == 403
    assert desk.programs == []


def test_the_check_runs_once_and_its_findings_are_shown_with_their_remedies(desk: Desk) -> None:
    desk.pair()
    assert ask(desk, "check") == 303
    assert ask(desk, "check") == 303, "a check is already running"
    ((command, given, done),) = desk.programs
    assert command == PROGRAM
    assert msgspec.json.decode(given, type=BesideBox).settings == desk.box.settings
    assert '<noscript><meta http-equiv="refresh"' in desk.text("/try"), (
        "works without a script, too"
    )
    done(json.dumps(FOUND).encode())
    page = desk.text("/try")
    assert "refresh" not in page
    assert page.index("Full.") < page.index("Free some.") < page.index("Loud.")
    assert "Not checked from here" in page


def test_a_failed_check_is_reported(desk: Desk) -> None:
    desk.pair()
    ask(desk, "check")
    desk.programs[0][2](b"")
    assert "The check failed" in desk.text("/try")


def test_the_tone_is_requested_once_and_can_be_stopped(desk: Desk) -> None:
    desk.pair()
    assert ask(desk, "sound", kind="tone") == 303
    assert ask(desk, "sound", kind="tone") == 303
    (wanted,) = desk.sent
    assert isinstance(wanted, StartTrial)
    page = desk.text("/try")
    assert "The tone is playing" in page
    assert 'http-equiv="refresh"' in page
    assert ask(desk, "stop") == 303
    assert desk.sent == [wanted, StopSpeaking()]
    desk.box.trying.handle(TrialRefused(wanted.number, "busy"), desk.now_s)
    page = desk.text("/try")
    assert "somebody is talking" in page
    assert "refresh" not in page


def test_a_request_that_the_box_does_not_accept_is_reported(desk: Desk) -> None:
    desk.pair()
    desk.accepts_messages = False
    assert ask(desk, "sound", kind="tone") == 303
    assert "has not answered" in desk.text("/try")
    assert ask(desk, "sound", kind="trumpet") == 400


def test_the_microphones_levels_are_shown_with_fault_and_remedy(desk: Desk) -> None:
    desk.pair()
    ask(desk, "sound", kind="microphone")
    (wanted,) = desk.sent
    assert isinstance(wanted, StartTrial)
    assert "Speak now" in desk.text("/try")
    told = SoundRecorded(wanted.number, 0.0, -9.0, -50.0, -70.0, 400, 0.0, played=False)
    desk.box.trying.handle(told, desk.now_s)
    page = desk.text("/try")
    assert "are cut off. Lower its capture level" in page
    assert "-50 dBFS" in page
    assert "refresh" not in page


def test_echo_health_is_shown_by_band_with_a_judgement(desk: Desk) -> None:
    desk.pair()
    ask(desk, "sound", kind="echo")
    bands = (EchoBand(125, 500, -30.0, -56.0, -70.0), EchoBand(500, 1000, -40.0, -62.0, -75.0))
    told = EchoMeasured(desk.box.trying.sound.number, bands, 7.2, 1, 0, "works")
    desk.box.trying.handle(told, desk.now_s)
    page = desk.text("/try")
    for words in ("does not matter", "took a sound for speech", "125–500", "26 dB", "7 s"):
        assert words in page


def test_near_misses_are_listed_in_mode_wake_word(desk: Desk) -> None:
    desk.pair()
    assert "without a wake word" in desk.text("/try")
    status = BoxStatus("wake_word", False, 0.8, "espeak", "pocket")
    desk.box.model.handle(status, desk.now_s)
    assert "Nothing has come close" in desk.text("/try")
    near = WakeNearMiss(round((desk.now_s - 5) * RATE_HZ), 0.71, 0.9, 1.2)
    desk.box.trying.handle(near, desk.now_s)
    page = desk.text("/try")
    for words in ("okay nabu", "0.71", "heard from 0.7 on"):
        assert words in page


def test_a_trial_ends_with_the_last_browser_that_watches_it(desk: Desk) -> None:
    desk.pair()
    ask(desk, "sound", kind="microphone")
    desk.text("/try")
    trying, now_s = desk.box.trying, desk.now_s
    assert trying.abandoned(now_s + UNSEEN_S + 1, looks=True) is None
    assert trying.abandoned(now_s + UNSEEN_S - 1, looks=False) is None, "the page asks every 2 s"
    assert trying.abandoned(now_s + UNSEEN_S, looks=False) == EndTrial(trying.sound.number)
    assert trying.abandoned(now_s + UNSEEN_S, looks=False) is None


@pytest.fixture
def desk_with_light(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path, panel={"gpio": "keyboard"})
    desk.pair()
    return desk


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_light_pattern_can_be_shown(desk_with_light: Desk, pattern: str) -> None:
    assert f'value="{pattern}"' in desk_with_light.text("/try")
    assert ask(desk_with_light, "light", pattern=pattern) == 303
    assert desk_with_light.sent == [ShowLight(pattern)]


def test_an_unknown_light_pattern_or_trial_is_refused(desk_with_light: Desk) -> None:
    assert ask(desk_with_light, "light", pattern="dancing") == 400
    assert ask(desk_with_light, "dance") == 400
    assert desk_with_light.sent == []


def test_a_box_that_accepts_no_messages_is_an_error(desk_with_light: Desk) -> None:
    desk_with_light.accepts_messages = False
    assert ask(desk_with_light, "light", pattern="muted") == 503


def test_a_box_without_a_light_offers_no_patterns(desk: Desk) -> None:
    desk.pair()
    page = desk.text("/try")
    assert "This box has no light" in page
    assert "The light shows that it is recording" not in page


def test_a_box_with_a_light_says_that_it_shows_the_recording(desk_with_light: Desk) -> None:
    assert "The light shows that it is recording" in desk_with_light.text("/try")
