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

# Smaller changes are not published, since Home Assistant's recorder stores a row for each change.
DEADBAND_C = 1.0
DEADBAND_PERCENT = 2


@dataclass(frozen=True)
class MachineReading:
    """One reading of the machine. None: the machine has no such sensor."""

    temperature_c: float | None = None
    throttled: bool = False
    low_voltage: bool = False
    memory_percent: int | None = None
    download_percent: int = 100


def as_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class StatePayloads:
    """`started`: start time of the box. `interval_s`: between two publications of varying values.

    All keys are in every payload: a missing one causes a warning in Home Assistant's log.
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
        self._passed_on = 0  # sentences that the fallback voice spoke
        self._failed: set[str] = set()
        self._reading = MachineReading()
        self._published: dict[str, Any] = {}
        self._published_at_s = -interval_s

    def handle(self, message: Message) -> None:
        match message:
            case StateChanged(state):
                self._state, self._passed_on = state, message.passed_on
            case TimersStatus(ringing=ringing):
                self._ringing = ringing
            case BoxStatus(voice=voice, model=model):
                before = self._status  # the name is empty while the voice or model is not up
                self._status = msgspec.structs.replace(
                    message, voice=voice or before.voice, model=model or before.model
                )
            case PartChanged(part, "failed"):
                self._failed.add(part)
            case PartChanged(part, "up"):
                self._failed.discard(part)

    def set_language(self, shown: str) -> None:
        """Set the language to show (language_setting.py)."""
        self._language = shown

    def update_reading(self, reading: MachineReading) -> None:
        self._reading = reading

    def set_started(self, at: datetime, slack_s: float) -> None:
        """Change the start time if it differs by more than `slack_s`, as after a clock step."""
        if abs((at - self._started).total_seconds()) > slack_s:
            self._started = at

    def payloads(self, events: ConversationEvents, now_s: float) -> dict[str, bytes]:
        """Return the payload of each state topic."""
        return {
            self._topics.state: as_json({"state": self._shown_state()}),
            self._topics.settings: as_json(self._settings()),
            self._topics.telemetry: as_json(self._telemetry(events, now_s)),
        }

    def _shown_state(self) -> str:
        """The state to publish. A ringing timer counts as speaking, also between two rings; an idle
        box counts as muted while the hardware switch cuts the microphone."""
        if self._ringing and self._state in ("idle", "muted"):
            return "speaking"
        return "muted" if self._status.cut and self._state == "idle" else self._state

    def _settings(self) -> dict[str, Any]:
        status = self._status
        return {
            "mute": "ON" if status.muted or status.cut else "OFF",  # a cut cannot be undone
            "volume": round(100 * status.volume),
            "voice": status.voice,
            "mode": status.mode,
            "language": self._language,
        }

    def _telemetry(self, events: ConversationEvents, now_s: float) -> dict[str, Any]:
        reading, published = self._reading, self._published
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
        varying = {
            "latency": events.latency_ms,
            "temperature": _steady(reading.temperature_c, published.get("temperature"), DEADBAND_C),
            "turns": events.turns,
            "passed_on": self._passed_on,
            "download": reading.download_percent,
            "memory": _steady(reading.memory_percent, published.get("memory"), DEADBAND_PERCENT),
        }
        due = now_s - self._published_at_s >= self._interval_s
        if due or not published or any(published[key] != value for key, value in urgent.items()):
            changed = urgent | varying
            if changed != published:
                self._published, self._published_at_s = changed, now_s
        return self._published


def _steady(value: float | None, published: float | None, band: float) -> float | None:
    """`value` rounded, or `published` while the two differ by less than `band`."""
    if value is None:
        return None
    if published is not None and abs(value - published) < band:
        return published
    return round(value)
