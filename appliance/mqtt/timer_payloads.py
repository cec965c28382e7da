"""Timers and alarms for the house: what is set, and what became of one. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from appliance.messages.tools import TimerEvent, TimersStatus
from appliance.mqtt.conversation_events import EventPayload


def status_payload(now: TimersStatus) -> dict[str, Any]:
    """What is set; all keys every time."""
    next_at = datetime.fromtimestamp(now.next_at_s, UTC) if now.next_at_s else None
    return {
        "timers": now.timers,
        "alarms": now.alarms,
        "next": next_at.replace(microsecond=0).isoformat() if next_at else None,
        "ringing": now.ringing,
    }


def event_payload(news: TimerEvent) -> EventPayload:
    """`number` tells two of them apart. `name` is there only where the owner lets words out."""
    made: EventPayload = {
        "event_type": news.kind,
        "kind": "alarm" if news.alarm else "timer",
        "number": news.number,
        "length_s": round(news.length_s),
    }
    return made | ({"name": news.name} if news.name else {})
