"""Messages become events: times in seconds, probabilities, and no spoken words."""

from __future__ import annotations

from typing import get_args

import msgspec

from appliance.messages.commands import (
    BoxStatus,
    SetMode,
    SetVoice,
    SetVolume,
    StateChanged,
    StopSpeaking,
)
from appliance.messages.hearing import Onset, Opinion, SpeechEnded, Verdict
from appliance.messages.playback import PlaybackPaused, PlaybackResumed
from appliance.messages.registry import Message
from appliance.messages.speech import Spoken
from appliance.messages.thinking import AnswerHeard, Sentence
from appliance.messages.tools import ShownTimer, TimersList
from appliance.messages.viewing import SoundLevels
from appliance.page.live import EXPECTED_S, HISTORY_S, MOST_EVENTS, LiveModel, word_event
from tests.messages.largest import build

WORD = "q"  # every text of a message below consists of it


def test_an_interruption_becomes_onset_pause_and_verdict_with_its_probability() -> None:
    model = LiveModel()
    told = [
        *model.handle(Onset(7, 16_000, speaking=True), 1.0),
        *model.handle(PlaybackPaused(3, 7, 8000, 16_320), 1.1),
        *model.handle(Opinion(7, 300, 0.04, 0.9, 0.06), 1.3),
        *model.handle(Verdict(7, "interruption", 340), 1.35),
    ]
    assert [event["k"] for event in told] == ["onset", "pause", "figures", "verdict"]
    assert told[0] == {"k": "onset", "t": 1.0, "serial": 7, "over": True}
    assert told[1] == {"k": "pause", "t": 1.02, "turn": 3, "at": 0.5}
    assert told[3] == {
        "k": "verdict", "t": 1.34, "kind": "interruption", "age": 340, "p": 0.9, "over": True,
    }  # fmt: skip


def test_the_time_to_silence_is_right_to_the_millisecond_wherever_the_onset_lies() -> None:
    hours = 160_000_000  # a box that has run for 2.8 hours
    for index in range(hours, hours + 64):
        (onset,) = LiveModel().handle(Onset(7, index, speaking=True), 1.0)
        (pause, *_) = LiveModel().handle(PlaybackPaused(3, 7, 8000, index + 480), 1.1)
        assert round(1000 * (pause["t"] - onset["t"])) == 30


def test_a_verdict_without_a_preceding_opinion_has_no_probability() -> None:
    model = LiveModel()
    model.handle(Onset(7, 0, speaking=True), 0.0)
    model.handle(Opinion(6, 300, 0.9, 0.05, 0.05), 0.1)
    (event,) = model.handle(Verdict(7, "noise", 700), 0.7)
    assert event["p"] is None
    assert model.handle(Verdict(99, "noise", 700), 0.7) == [], "a verdict on an unknown onset"


def test_a_resume_event_has_the_position_in_the_answer() -> None:
    model = LiveModel()
    (event,) = model.handle(PlaybackResumed(3, 7, 7200, 20_000), 1.3)
    assert event == {"k": "resume", "t": 1.25, "turn": 3, "at": 0.45}


def test_a_spoken_event_has_the_length_and_no_words() -> None:
    (event,) = LiveModel().handle(Spoken(3, 1, 16_000, 8000, 12.0), 0.0)
    assert event == {"k": "spoken", "turn": 3, "n": 1, "to": 1.5}


def test_a_piece_of_a_long_turn_does_not_end_it() -> None:
    model = LiveModel()
    assert model.handle(SpeechEnded(1, 16_000, 8000, last=False), 1.0) == []
    (event,) = model.handle(SpeechEnded(1, 16_000, 8000, last=True), 1.0)
    assert event == {"k": "speech_end", "t": 1.0, "s": 0.5}


def test_a_new_browser_gets_only_the_last_minute() -> None:
    model = LiveModel()
    model.handle(StateChanged("listening", 1, int(5e9)), 5.0)
    model.handle(StateChanged("thinking", 1, int(70e9)), 70.0)
    hello = model.hello(70.0)
    assert [event["t"] for event in hello["history"]] == [70.0]
    assert hello["state"] == "thinking"


def test_a_day_of_talk_takes_no_more_memory_than_a_minute() -> None:
    model = LiveModel()
    for tick in range(20_000):
        at_s = tick / 100
        model.handle(SoundLevels(int(16_000 * at_s), (-40,) * 5, (-96,) * 5), at_s)
    history = model.hello(200.0)["history"]
    assert len(history) <= MOST_EVENTS
    assert history[0]["t"] >= 200.0 - HISTORY_S - 2


def test_no_event_contains_a_word_of_a_message() -> None:
    """Every message type, with every text at its maximum length."""
    for kind in get_args(Message):
        if kind is BoxStatus:
            continue  # it has names of parts and of the voice; see below
        model = LiveModel()
        model.handle(Onset(1, 0, speaking=True), 0.0)
        told = model.handle(build(kind, WORD, 1), 0.0)
        assert (WORD * 20).encode() not in msgspec.json.encode([*told, model.hello(0.0)]), kind


def test_a_timer_change_is_an_event_without_details() -> None:
    model = LiveModel()
    listed = TimersList((ShownTimer(1, False, "tea", 1.8e9, 60.0),))
    assert model.handle(listed, 0.0) == [{"k": "timers"}]
    assert model.hello(0.0)["history"] == []


def test_the_status_event_has_only_the_fields_that_the_page_shows() -> None:
    (event,) = LiveModel().handle(BoxStatus("open", False, 0.8), 0.0)
    assert event.keys() == {
        "k", "mode", "muted", "cut", "volume", "voice", "starting", "broken", "house",
    }  # fmt: skip


def test_words_are_events_only_on_request_and_never_history() -> None:
    model = LiveModel()
    for message in (Sentence(1, 0, "Hello there."), AnswerHeard(1, "Hello", complete=False)):
        assert model.handle(message, 0.0) == []
    assert word_event(Sentence(1, 0, "Hello there."))["text"] == "Hello there."
    heard = word_event(AnswerHeard(1, "Hello", complete=False))
    assert (heard["text"], heard["all"]) == ("Hello", False)


def test_a_requested_value_is_shown_until_the_next_box_status() -> None:
    model = LiveModel()
    model.expect(SetVolume(0.45), 9.0)
    assert model.shown_status(9.0) is None, "there is no box status yet"
    model.handle(BoxStatus("open", False, 0.4, "amy"), 10.0)
    for command in (SetVolume(0.45), SetMode("wake_word"), SetVoice("joe")):
        model.expect(command, 10.0)
    shown = model.shown_status(10.1)
    assert shown == BoxStatus("wake_word", False, 0.45, "joe")
    told = BoxStatus("open", False, 0.5, "amy")
    model.handle(told, 10.2)
    assert model.shown_status(10.2) == told


def test_a_requested_value_without_a_status_expires_and_other_commands_change_nothing() -> None:
    model, told = LiveModel(), BoxStatus("open", False, 0.4, "amy")
    model.handle(told, 10.0)
    model.expect(StopSpeaking(), 10.0)
    assert model.shown_status(10.0) == told
    model.expect(SetVoice("joe"), 10.0)
    assert model.shown_status(10.0 + EXPECTED_S) == told
