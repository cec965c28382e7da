"""Events of the conversation for Home Assistant: the conductor's messages in, events out. Pure.

An event says when the owner or the box spoke and for how long. It has the text only if the setting
`link.words` allows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from appliance.messages.commands import BoxStatus, StateChanged
from appliance.messages.hearing import SpeechEnded, SpeechStarted, Verdict, WakeWordHeard
from appliance.messages.playback import PlaybackFinished, PlaybackStarted, PlaybackStopped
from appliance.messages.registry import Message
from appliance.messages.thinking import AnswerHeard
from appliance.sound_format import RATE_HZ

KINDS = ("wake", "user_said", "agent_said", "interrupted", "backchannel", "announced", "error")
LONGEST_ANSWER_WAIT_S = 120.0  # after longer than this, the speech was not the answer's question

EventPayload = dict[str, Any]  # `event_type` and its attributes


def _ms(samples: int) -> int:
    return round(1000 * samples / RATE_HZ)


@dataclass
class ConversationEvents:
    """Turns messages into events. `words`: put the heard text of answers into the events.

    `turns`: answers since the start. `latency_ms`: of the latest answer, from the last sample of
    the owner's speech to the first sample of the answer.
    """

    words: bool = False
    turns: int = 0
    latency_ms: int | None = None
    _state: str = ""
    _answer_turn: int = 0  # the latest turn that the model answered
    _started: dict[int, int] = field(default_factory=dict)  # utterance → index
    _speech_end: int | None = None  # index of the end of the owner's latest speech
    _playing: int = 0  # the turn that is playing; 0: none
    _ringing_turn: int = 0  # the latest turn of a ringing timer, which has its own events
    _heard: dict[int, str] = field(default_factory=dict)
    _broken: tuple[str, ...] = ()

    def handle(self, message: Message) -> list[EventPayload]:
        """Return the events that a message of the conductor causes."""
        match message:
            case StateChanged():
                self._on_state(message)
            case WakeWordHeard():
                return [{"event_type": "wake"}]
            case SpeechStarted(utterance, _, index):
                self._started = {utterance: index}
            case SpeechEnded(utterance, index, frames, last=True) if frames:
                return self._user_said(utterance, index)
            case Verdict(_, "backchannel", _) if self._playing:
                return [{"event_type": "backchannel", "turn": self._playing}]
            case PlaybackStarted(turn, index):
                self._on_playback_started(turn, index)
            case PlaybackFinished(turn, position):
                return self._on_playback_ended(turn, position, complete=True)
            case PlaybackStopped(turn, position):
                return self._on_playback_ended(turn, position, complete=False)
            case AnswerHeard(turn, text) if self.words:
                self._heard = {turn: text}
            case BoxStatus(broken=broken):
                new = [part for part in broken if part not in self._broken]
                self._broken = broken
                return [{"event_type": "error", "part": part} for part in new]
        return []

    def _on_state(self, changed: StateChanged) -> None:
        if changed.ring:
            self._ringing_turn = changed.turn
        was, self._state = self._state, changed.state
        if changed.state == "thinking" or (changed.state == "speaking" and was == "thinking"):
            self._answer_turn = changed.turn

    def _user_said(self, utterance: int, index: int) -> list[EventPayload]:
        started = self._started.pop(utterance, None)
        self._speech_end = index
        duration_ms = None if started is None else max(0, _ms(index - started))
        return [{"event_type": "user_said", "duration_ms": duration_ms}]

    def _on_playback_started(self, turn: int, index: int) -> None:
        self._playing = turn
        if turn != self._answer_turn:
            return
        self.turns += 1
        wait_samples = None if self._speech_end is None else index - self._speech_end
        self._speech_end = None
        if wait_samples is None or not 0 < wait_samples < LONGEST_ANSWER_WAIT_S * RATE_HZ:
            self.latency_ms = None  # a typed question
        else:
            self.latency_ms = _ms(wait_samples)

    def _on_playback_ended(self, turn: int, position: int, *, complete: bool) -> list[EventPayload]:
        if turn != self._playing:
            return []
        self._playing = 0
        if turn == self._ringing_turn:
            return []
        kind = "interrupted" if not complete else "agent_said"
        if turn != self._answer_turn:
            kind = "interrupted" if not complete else "announced"
            return [{"event_type": kind, "turn": turn, "duration_ms": _ms(position)}]
        event: EventPayload = {
            "event_type": kind,
            "turn": turn,
            "duration_ms": _ms(position),
            "latency_ms": self.latency_ms,
        }
        if self.words:
            event["text"] = self._heard.pop(turn, "")
        return [event]
