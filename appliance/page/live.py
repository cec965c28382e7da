"""Turns the box's messages into events for browsers, and keeps those of the last minute. Pure.

Only the events of `word_event` have spoken text, and they are not kept. Times are seconds of
CLOCK_MONOTONIC, on which the sample indices are based.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from appliance.messages.commands import (
    BoxStatus,
    Forgotten,
    SetMode,
    SetVoice,
    SetVolume,
    StateChanged,
)
from appliance.messages.hearing import (
    Onset,
    Opinion,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WakeWordHeard,
)
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
from appliance.messages.tools import TimersList
from appliance.messages.viewing import LEVEL_MS, SoundLevels
from appliance.page.figures import Figures
from appliance.sound_format import RATE_HZ

HISTORY_S = 60.0
EXPECTED_S = 2.0  # the conductor answers a command within a few milliseconds
MOST_EVENTS = 2000  # of HISTORY_S; 300 of them are levels

Event = dict[str, Any]


@dataclass
class ForgettingState:
    """State of requests to forget turns. `awaited`: turns by their start time and number."""

    awaited: set[tuple[str, int]]
    problem: str = ""

    def asked(self, turn: tuple[str, int]) -> None:
        self.awaited.add(turn)
        self.problem = ""

    def handle(self, answer: Forgotten) -> None:
        """Handle the answer to all requests so far; they are carried out in order."""
        self.awaited.clear()
        self.problem = answer.problem


class LiveModel:
    """Events of the last minute and the box's state. `status`: None until it is received. `timers`:
    with their names, which are in no event."""

    def __init__(self) -> None:
        self.figures = Figures()
        self.state = StateChanged("idle", 0, 0)
        self.status: BoxStatus | None = None
        self._expected: BoxStatus | None = None
        self._expected_until_s = 0.0
        self.timers = TimersList()
        self.forgetting = ForgettingState(set())
        self._history: deque[Event] = deque(maxlen=MOST_EVENTS)
        self._opinions: dict[int, Opinion] = {}  # the latest, for the onset awaiting a verdict

    def handle(self, message: Message, now_s: float) -> list[Event]:
        """Handle a message. Returns the events that it causes."""
        events = [self._state_event(message)] if isinstance(message, StateChanged) else []
        match message:
            case BoxStatus():
                self.status, self._expected = message, None
                events.append({"k": "status"} | status_of(message))
            case TimersList():
                self.timers = message
                events.append({"k": "timers"})  # a page requests the names itself
            case Forgotten():
                self.forgetting.handle(message)
            case Opinion():
                self._opinions = {message.serial: message}
            case _:
                event = self._event(message)
                events += [event] if event else []
        if self.figures.handle(message):
            events.append({"k": "figures"} | self.figures.summary())
        self._history.extend(event for event in events if "t" in event)
        while self._history and self._history[0]["t"] < now_s - HISTORY_S - 1:
            self._history.popleft()
        return events

    def expect(self, command: Message, now_s: float) -> None:
        """Show the effect of a command at once, until the conductor's next status."""
        status = self.shown_status(now_s)
        if status is None:
            return
        match command:
            case SetVolume(volume):
                status = msgspec.structs.replace(status, volume=volume)
            case SetMode(mode):
                status = msgspec.structs.replace(status, mode=mode)
            case SetVoice(voice):
                status = msgspec.structs.replace(status, voice=voice)
            case _:
                return
        self._expected, self._expected_until_s = status, now_s + EXPECTED_S

    def shown_status(self, now_s: float) -> BoxStatus | None:
        """The last status, changed by the commands sent since. A command that is not followed by a
        status within EXPECTED_S counts as not carried out."""
        if self._expected is not None and now_s < self._expected_until_s:
            return self._expected
        return self.status

    def hello(self, now_s: float) -> Event:
        """The first event of a stream."""
        status = status_of(self.status) if self.status is not None else {}
        return {
            "k": "hello",
            "now": round(now_s, 3),
            "level_s": LEVEL_MS / 1000,
            "state": self.state.state,
            "status": status,
            "history": list(self._history),
        } | self.figures.summary()

    def _state_event(self, message: StateChanged) -> Event:
        self.state = message
        at_s = round(message.at_ns / 1e9, 3)
        return {"k": "state", "t": at_s, "state": message.state, "turn": message.turn}

    def _event(self, message: Message) -> Event | None:
        if isinstance(message, Verdict):
            return self._verdict(message)
        make = _EVENTS.get(type(message))
        return None if make is None else make(message)

    def _verdict(self, message: Verdict) -> Event | None:
        """The event of a verdict: its time is the onset's plus its age, its probability that of the
        last opinion."""
        earlier = (event for event in reversed(self._history) if "serial" in event)
        onset = next((event for event in earlier if event["serial"] == message.serial), None)
        opinion = self._opinions.pop(message.serial, None)
        if onset is None:
            return None
        share = None if opinion is None else round(getattr(opinion, message.kind), 2)
        at_s = round(onset["t"] + message.age_ms / 1000, 3)
        return {"k": "verdict", "t": at_s, "kind": message.kind, "age": message.age_ms, "p": share,
                "over": onset["over"]}  # fmt: skip


def clock_event(now_s: float) -> Event:
    """The box's time, sent regularly, as a browser that receives nothing for long reconnects."""
    return {"k": "now", "now": round(now_s, 3)}


def word_event(message: Sentence | AnswerHeard) -> Event:
    """Text of an answer, for browsers that requested it."""
    if isinstance(message, Sentence):
        return {"k": "sentence", "turn": message.turn, "n": message.number, "text": message.text}
    return {"k": "heard", "turn": message.turn, "text": message.text, "all": message.complete}


def status_of(status: BoxStatus) -> Event:
    """The fields of a status that the page shows."""
    return {
        "mode": status.mode,
        "muted": status.muted,
        "cut": status.cut,
        "volume": round(status.volume, 2),
        "voice": status.voice,
        "starting": status.starting,
        "broken": status.broken,
        "house": status.house,
    }


def _at(index: int) -> float:
    """The time of a sample in seconds; finer than a millisecond, which the page rounds differences
    of two times to."""
    return round(index / RATE_HZ, 4)


def _levels(message: SoundLevels) -> Event:
    return {"k": "levels", "t": _at(message.index), "o": message.owner, "b": message.box}


def _onset(message: Onset) -> Event:
    at_s = _at(message.index)
    return {"k": "onset", "t": at_s, "serial": message.serial, "over": message.speaking}


def _speech_end(message: SpeechEnded) -> Event | None:
    if not message.last:
        return None
    return {"k": "speech_end", "t": _at(message.index), "s": round(message.frames / RATE_HZ, 2)}


def _spoken(message: Spoken) -> Event:
    end = _at(message.position + message.frames)
    return {"k": "spoken", "turn": message.turn, "n": message.number, "to": end}


def _timed_event(kind: str) -> Callable[[Any], Event]:
    return lambda message: {"k": kind, "t": _at(message.index)}


def _playback_event(kind: str) -> Callable[[Any], Event]:
    """Event of playback. `at`: position in the answer, in seconds."""
    return lambda message: {
        "k": kind, "t": _at(message.index), "turn": message.turn,
        "at": _at(getattr(message, "position", 0)),
    }  # fmt: skip


_EVENTS: dict[type[Any], Callable[[Any], Event | None]] = {
    SoundLevels: _levels,
    Onset: _onset,
    SpeechStarted: _timed_event("speech"),
    SpeechEnded: _speech_end,
    WakeWordHeard: _timed_event("wake"),
    PlaybackStarted: _playback_event("answer"),
    PlaybackPaused: _playback_event("pause"),
    PlaybackResumed: _playback_event("resume"),
    PlaybackFinished: _playback_event("finish"),
    PlaybackStopped: _playback_event("stop"),
    Spoken: _spoken,
}
