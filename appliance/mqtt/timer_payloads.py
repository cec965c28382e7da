"""Payloads of the timers' topics: which timers are set, and events of single timers. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from appliance.messages.tools import TimerEvent, TimersStatus
from appliance.mqtt.conversation_events import EventPayload


def status_payload(status: TimersStatus) -> dict[str, Any]:
    """Payload of the timers that are set; it always has all keys."""
    next_at = datetime.fromtimestamp(status.next_at_s, UTC) if status.next_at_s else None
    return {
        "timers": status.timers,
        "alarms": status.alarms,
        "next": next_at.replace(microsecond=0).isoformat() if next_at else None,
        "ringing": status.ringing,
    }


def event_payload(news: TimerEvent) -> EventPayload:
    """Payload of one event. `number` identifies the timer. `name` is present only if the owner
    allows words in events."""
    payload: EventPayload = {
        "event_type": news.kind,
        "kind": "alarm" if news.alarm else "timer",
        "number": news.number,
        "length_s": round(news.length_s),
    }
    return payload | ({"name": news.name} if news.name else {})
