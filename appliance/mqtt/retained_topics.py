"""The latest value of every retained topic, and which of them are still to be sent. Pure.

At most one value per topic is in flight. After a stall the broker gets the newest, not a queue.
"""

from __future__ import annotations

from dataclasses import dataclass

STALL_S = 1.0  # without a receipt for this long, the broker counts as unreachable


@dataclass
class _TopicValue:
    payload: bytes
    sent: bytes | None = None  # last payload passed to the present connection
    receipt: int | None = None  # the message id that the broker has not acknowledged yet
    sent_at_s: float = 0.0


class RetainedTopics:
    """Retained topics in the order in which they are to be sent after a connect."""

    def __init__(self, order: tuple[str, ...]) -> None:
        self._order = order
        self._values: dict[str, _TopicValue] = {}
        self._resend_at_s: float | None = None

    def set(self, topic: str, payload: bytes) -> None:
        """Set the value of `topic`. Raises KeyError for a topic that is not in the order."""
        if topic not in self._order:
            raise KeyError(topic)
        if topic in self._values:
            self._values[topic].payload = payload
        else:
            self._values[topic] = _TopicValue(payload)

    def drop(self, topic: str) -> None:
        """Stop sending `topic` until it is set again."""
        self._values.pop(topic, None)

    def value(self, topic: str) -> bytes | None:
        entry = self._values.get(topic)
        return entry.payload if entry else None

    def connected(self) -> None:
        """Make all topics due at once, since the broker may have lost its retained messages."""
        self._resend_at_s = None
        for entry in self._values.values():
            entry.sent = entry.receipt = None

    def again_at(self, at_s: float) -> None:
        """Make all topics due at `at_s`, for a subscriber that has just started."""
        if self._resend_at_s is None or at_s < self._resend_at_s:
            self._resend_at_s = at_s

    def pop_due(self, now_s: float) -> list[tuple[str, bytes]]:
        """Return the topics and payloads to send now, in order. Call `sent` for each."""
        if self._resend_at_s is not None and now_s >= self._resend_at_s:
            self._resend_at_s = None
            for entry in self._values.values():
                entry.sent = None
        ready = [(topic, self._values[topic]) for topic in self._order if topic in self._values]
        return [
            (topic, entry.payload)
            for topic, entry in ready
            if entry.sent != entry.payload and entry.receipt is None
        ]

    def sent(self, topic: str, payload: bytes, receipt: int, now_s: float) -> None:
        entry = self._values[topic]
        entry.sent, entry.receipt, entry.sent_at_s = payload, receipt, now_s

    def acknowledged(self, receipt: int) -> str | None:
        """Record a receipt. Returns its topic, or None if it is not one of these."""
        for topic, entry in self._values.items():
            if entry.receipt == receipt:
                entry.receipt = None
                return topic
        return None

    def stalled_s(self, now_s: float) -> float:
        """Age of the oldest message without a receipt; 0 if there is none."""
        pending = [entry.sent_at_s for entry in self._values.values() if entry.receipt is not None]
        return max(0.0, now_s - min(pending)) if pending else 0.0

    def next_s(self) -> float | None:
        """Time at which all topics become due, or None."""
        return self._resend_at_s
