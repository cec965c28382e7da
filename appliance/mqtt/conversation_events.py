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
    _answer: int = 0  # the latest turn that the model answered
    _begun: dict[int, int] = field(default_factory=dict)  # utterance → index
    _spoke_until: int | None = None  # index of the end of the owner's latest speech
    _sounding: int = 0  # the turn that is playing; 0: none
    _rings: int = 0  # the latest turn that was a timer's ringing, which has events of its own
    _heard: dict[int, str] = field(default_factory=dict)
    _broken: tuple[str, ...] = ()

    def handle(self, message: Message) -> list[EventPayload]:
        """Return the events that a message of the conductor causes."""
        match message:
            case StateChanged():
                self._becomes(message)
            case WakeWordHeard():
                return [{"event_type": "wake"}]
            case SpeechStarted(utterance, _, index):
                self._begun = {utterance: index}
            case SpeechEnded(utterance, index, frames, last=True) if frames:
                return self._user_said(utterance, index)
            case Verdict(_, "backchannel", _) if self._sounding:
                return [{"event_type": "backchannel", "turn": self._sounding}]
            case PlaybackStarted(turn, index):
                self._begins(turn, index)
            case PlaybackFinished(turn, position):
                return self._ends(turn, position, whole=True)
            case PlaybackStopped(turn, position):
                return self._ends(turn, position, whole=False)
            case AnswerHeard(turn, text) if self.words:
                self._heard = {turn: text}
            case BoxStatus(broken=broken):
                new = [part for part in broken if part not in self._broken]
                self._broken = broken
                return [{"event_type": "error", "part": part} for part in new]
        return []

    def _becomes(self, changed: StateChanged) -> None:
        if changed.ring:
            self._rings = changed.turn
        was, self._state = self._state, changed.state
        if changed.state == "thinking" or (changed.state == "speaking" and was == "thinking"):
            self._answer = changed.turn

    def _user_said(self, utterance: int, index: int) -> list[EventPayload]:
        begun = self._begun.pop(utterance, None)
        self._spoke_until = index
        duration_ms = None if begun is None else max(0, _ms(index - begun))
        return [{"event_type": "user_said", "duration_ms": duration_ms}]

    def _begins(self, turn: int, index: int) -> None:
        self._sounding = turn
        if turn != self._answer:
            return
        self.turns += 1
        waited = None if self._spoke_until is None else index - self._spoke_until
        self._spoke_until = None
        if waited is None or not 0 < waited < LONGEST_ANSWER_WAIT_S * RATE_HZ:
            self.latency_ms = None  # a typed question
        else:
            self.latency_ms = _ms(waited)

    def _ends(self, turn: int, position: int, *, whole: bool) -> list[EventPayload]:
        if turn != self._sounding:
            return []
        self._sounding = 0
        if turn == self._rings:
            return []
        kind = "interrupted" if not whole else "agent_said"
        if turn != self._answer:
            kind = "interrupted" if not whole else "announced"
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
