"""A page left open for a day: nothing grows, and the last minute is always right."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import msgspec
import pytest

from appliance.messages.commands import StateChanged
from appliance.messages.hearing import Onset, Opinion, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.registry import Message
from appliance.messages.speech import Spoken
from appliance.messages.thinking import AnswerHeard, Sentence
from appliance.messages.viewing import SoundLevels
from appliance.page.access import SEEN_S, UNSEEN_S
from appliance.page.figures import KEPT
from appliance.page.live import HISTORY_S, MOST_EVENTS, Event, LiveModel
from appliance.page.requests import EventStream
from appliance.page.viewers import Viewer
from appliance.pcm import RATE_HZ
from tests.page.desk import Desk

DAY_S, HOUR_S = 86_400, 3600
TALK_S = 20  # between two questions: 4320 a day
MOST_HELLO = 262_144  # bytes of a browser's first event, as many as a stream may buffer
MOST_OBJECTS = 300  # objects left by a day: none, except those of other work in this process


def day(from_s: int, until_s: int, levels: int = 5) -> Iterator[tuple[float, Message]]:
    """The messages of a day in order, with their times: constant levels, so many a second, and
    interrupted answers."""
    for second in range(from_s, until_s):
        if second % TALK_S == 0:
            yield from talk(second // TALK_S + 1, float(second))
        for step in range(levels):
            at_s = second + step / levels
            yield at_s, SoundLevels(round(at_s * RATE_HZ), (-40,) * 5, (-12,) * 5)


def talk(turn: int, at_s: float) -> Iterator[tuple[float, Message]]:
    at = round(at_s * RATE_HZ)
    kind = "interruption" if turn % 2 else "backchannel"
    messages: tuple[Message, ...] = (
        StateChanged("listening", turn, round(at_s * 1e9)),
        SpeechStarted(turn, turn, at),
        SpeechEnded(turn, at, RATE_HZ, last=True),
        StateChanged("speaking", turn, round(at_s * 1e9)),
        PlaybackStarted(turn, at),
        Sentence(turn, 0, "Paris is the capital of France."),
        Spoken(turn, 0, 0, 4 * RATE_HZ, 1.0),
        Onset(turn, at, speaking=True),
        PlaybackPaused(turn, turn, 100, at),
        Opinion(turn, 300, 0.1, 0.8, 0.1),
        Verdict(turn, kind, 300),  # type: ignore[arg-type]  # one of its names
        PlaybackStopped(turn, 100, at) if turn % 2 else PlaybackResumed(turn, turn, 100, at),
        *(() if turn % 2 else (PlaybackFinished(turn, 4 * RATE_HZ, at),)),
        AnswerHeard(turn, "Paris", complete=False),
    )
    for message in messages:
        yield at_s, message


def live(model: LiveModel, from_s: int, until_s: int, levels: int = 5) -> None:
    for at_s, message in day(from_s, until_s, levels):
        model.handle(message, at_s)


@pytest.mark.process
@pytest.mark.timeout(240)
def test_a_day_of_events_takes_no_more_memory_than_an_hour_and_the_last_minute_is_right() -> None:
    model = LiveModel()
    live(model, 0, HOUR_S)
    gc.collect()
    after_an_hour = len(gc.get_objects())
    live(model, HOUR_S, DAY_S - HOUR_S, levels=1)  # 80,000 show a leak as well as 400,000
    live(model, DAY_S - HOUR_S, DAY_S)
    gc.collect()
    assert len(gc.get_objects()) - after_an_hour < MOST_OBJECTS
    assert len(model.figures.stops_ms) == len(model.figures.answers_ms) == KEPT

    hello = model.hello(DAY_S)
    assert len(msgspec.json.encode(hello)) < MOST_HELLO
    assert len(hello["history"]) < MOST_EVENTS
    fresh = LiveModel()
    live(fresh, DAY_S - round(HISTORY_S) - TALK_S, DAY_S)
    expected = [event for event in fresh.hello(DAY_S)["history"] if event["t"] >= DAY_S - HISTORY_S]
    assert [one for one in hello["history"] if one["t"] >= DAY_S - HISTORY_S] == expected
    assert {event["k"] for event in expected} >= {"levels", "answer", "pause", "verdict", "stop"}
    assert sum(event["k"] == "levels" for event in expected) == round(5 * HISTORY_S)


def test_a_burst_of_onsets_stays_within_the_event_limit() -> None:
    model = LiveModel()
    for serial in range(10 * MOST_EVENTS):
        model.handle(Onset(serial, 0, speaking=True), 0.0)
        model.handle(Opinion(serial, 100, 0.1, 0.8, 0.1), 0.0)
    assert len(model.hello(0.0)["history"]) == MOST_EVENTS
    assert len(model._opinions) == 1


def test_a_browser_that_returns_after_eight_hours_gets_only_the_last_minute(
    desk: Desk,
) -> None:
    desk.pair()
    live(desk.box.model, 1000, 1100)
    desk.now_s = 1100.0
    first = look(desk)
    desk.now_s += 8 * HOUR_S
    live(desk.box.model, round(desk.now_s) - 30, round(desk.now_s))
    again = look(desk)
    assert hello(first)["history"][-1]["t"] < 1100
    assert hello(again)["now"] == desk.now_s
    assert {event["t"] > desk.now_s - HISTORY_S for event in hello(again)["history"]} == {True}


def test_a_restarted_box_counts_from_zero_and_shows_no_older_events() -> None:
    before, after = LiveModel(), LiveModel()
    live(before, 50_000, 50_060)
    live(after, 0, 20)
    assert after.hello(20.0)["history"][0]["t"] == 0
    assert len(after.hello(20.0)["history"]) < len(before.hello(50_060.0)["history"])


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S, 30 * 86_400, -30 * 86_400])
def test_setting_the_clock_logs_no_browser_out(desk: Desk, jump_s: float) -> None:
    """The live view and the limits use CLOCK_MONOTONIC, which is never set. The time a browser was
    last seen uses the time of day, which can be set."""
    desk.pair()
    clock = desk.box.access._clock
    desk.box.access._clock = lambda: clock() + jump_s
    assert "canvas" in desk.text("/")
    assert isinstance(desk.request("GET", "/events"), EventStream)
    desk.box.access._clock = clock  # and back
    assert "canvas" in desk.text("/")


def test_an_open_page_counts_as_seen_and_an_unused_access_expires(
    desk: Desk,
) -> None:
    """A browser reopens its stream every hour, and counts as seen each time."""
    desk.pair()
    for _ in range(3):
        desk.now_s += UNSEEN_S - SEEN_S
        assert isinstance(desk.request("GET", "/events"), EventStream)
    desk.now_s += UNSEEN_S + 1
    assert desk.get("/events").status == 403
    assert "canvas" not in desk.text("/")


def look(desk: Desk) -> list[bytes]:
    """The data that a browser receives when it opens the live view and leaves."""
    stream = desk.request("GET", "/events")
    assert isinstance(stream, EventStream)
    received: list[bytes] = []
    viewer = desk.site.join(stream, received.append)
    assert isinstance(viewer, Viewer)
    desk.site.leave(viewer)
    return received


def hello(received: list[bytes]) -> Event:
    found = msgspec.json.decode(received[0].partition(b"data: ")[2])
    assert found[0]["k"] == "hello"
    event: Event = found[0]
    return event
