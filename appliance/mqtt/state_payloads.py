"""Payloads of the state topics: messages and readings of the machine in, JSON out. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from appliance.messages.commands import BoxStatus, StateChanged
from appliance.messages.registry import Message
from appliance.messages.supervision import PartChanged
from appliance.messages.tools import TimersStatus
from appliance.mqtt.conversation_events import ConversationEvents
from appliance.mqtt.problem_state import worst
from appliance.mqtt.topics import Topics
from appliance.settings.language import ANY

# What a reading may wander without being told: the recorder keeps a row for every change.
DEADBAND_C = 1.0
DEADBAND_PERCENT = 2


@dataclass(frozen=True)
class MachineReading:
    """Of the machine. None: it cannot say."""

    temperature_c: float | None = None
    throttled: bool = False
    low_voltage: bool = False
    memory_percent: int | None = None
    download_percent: int = 100


def as_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class StatePayloads:
    """`started`: when the box began. `interval_s`: between two tellings of what wanders.

    All keys are in every payload: a missing one is a warning in Home Assistant's log.
    """

    def __init__(
        self,
        topics: Topics,
        *,
        status: BoxStatus,
        started: datetime,
        version: str,
        interval_s: float,
        language: str = ANY,
    ) -> None:
        self._topics = topics
        self._status = status
        self._started = started
        self._version = version
        self._interval_s = interval_s
        self._language = language
        self._state = "idle"
        self._ringing = False
        self._passed_on = 0  # sentences that another voice had to say
        self._failed: set[str] = set()
        self._reading = MachineReading()
        self._told: dict[str, Any] = {}
        self._told_at_s = -interval_s

    def handle(self, message: Message) -> None:
        match message:
            case StateChanged(state):
                self._state, self._passed_on = state, message.passed_on
            case TimersStatus(ringing=ringing):
                self._ringing = ringing
            case BoxStatus(voice=voice, model=model):
                was = self._status  # what has not come up yet has no name
                self._status = msgspec.structs.replace(
                    message, voice=voice or was.voice, model=model or was.model
                )
            case PartChanged(part, "failed"):
                self._failed.add(part)
            case PartChanged(part, "up"):
                self._failed.discard(part)

    def set_language(self, shown: str) -> None:
        """As the device shows it (language_setting.py)."""
        self._language = shown

    def update_reading(self, reading: MachineReading) -> None:
        self._reading = reading

    def set_started(self, at: datetime, slack_s: float) -> None:
        """When the box began, if the clock has been set by more than `slack_s` since."""
        if abs((at - self._started).total_seconds()) > slack_s:
            self._started = at

    def payloads(self, story: ConversationEvents, now_s: float) -> dict[str, bytes]:
        """What each topic should say now."""
        return {
            self._topics.state: as_json({"state": self._shown()}),
            self._topics.settings: as_json(self._settings()),
            self._topics.telemetry: as_json(self._telemetry(story, now_s)),
        }

    def _shown(self) -> str:
        """The conversation's state. A bell that pauses between two rings is under way all the same,
        and a box at rest whose microphone is cut is not listening."""
        if self._ringing and self._state in ("idle", "muted"):
            return "speaking"
        return "muted" if self._status.cut and self._state == "idle" else self._state

    def _settings(self) -> dict[str, Any]:
        now = self._status
        return {
            "mute": "ON" if now.muted or now.cut else "OFF",  # nobody can unmute a cut microphone
            "volume": round(100 * now.volume),
            "voice": now.voice,
            "mode": now.mode,
            "language": self._language,
        }

    def _telemetry(self, story: ConversationEvents, now_s: float) -> dict[str, Any]:
        reading, was = self._reading, self._told
        broken = {*self._status.broken, *self._failed}
        faults = {
            "low_voltage": reading.low_voltage,
            "button": bool(self._status.button),
            "storage": self._status.storage,
        }
        urgent = {
            "throttled": reading.throttled,
            "hw_mute": self._status.cut,
            "problem": worst(broken, **faults),
            "model": self._status.model,
            "version": self._version,
            "started": self._started.isoformat(),
        }
        wandering = {
            "latency": story.latency_ms,
            "temperature": _steady(reading.temperature_c, was.get("temperature"), DEADBAND_C),
            "turns": story.turns,
            "passed_on": self._passed_on,
            "download": reading.download_percent,
            "memory": _steady(reading.memory_percent, was.get("memory"), DEADBAND_PERCENT),
        }
        due = now_s - self._told_at_s >= self._interval_s
        if due or not was or any(was[key] != value for key, value in urgent.items()):
            changed = urgent | wandering
            if changed != was:
                self._told, self._told_at_s = changed, now_s
        return self._told


def _steady(value: float | None, was: float | None, band: float) -> float | None:
    """`value`, or what was told of it last while it has not wandered further than `band`."""
    if value is None:
        return None
    if was is not None and abs(value - was) < band:
        return was
    return round(value)
