"""The latest value of every topic, and what of it is still to be sent. Pure.

At most one value a topic is on its way: a broker that stalls is owed the newest, not a queue.
"""

from __future__ import annotations

from dataclasses import dataclass

STALL_S = 1.0  # without a broker's receipt for so long it is taken not to be there


@dataclass
class _TopicValue:
    payload: bytes
    sent: bytes | None = None  # what was handed to the connection last, since it is up
    receipt: int | None = None  # the message id that the broker has not acknowledged yet
    sent_at_s: float = 0.0


class RetainedTopics:
    """Retained topics in the order in which they are to be sent after a connect."""

    def __init__(self, order: tuple[str, ...]) -> None:
        self._order = order
        self._kept: dict[str, _TopicValue] = {}
        self._all_at_s: float | None = None

    def set(self, topic: str, payload: bytes) -> None:
        """The value of `topic` from now on."""
        if topic not in self._order:
            raise KeyError(topic)
        if topic in self._kept:
            self._kept[topic].payload = payload
        else:
            self._kept[topic] = _TopicValue(payload)

    def drop(self, topic: str) -> None:
        """Say no more of `topic` until it is set again."""
        self._kept.pop(topic, None)

    def value(self, topic: str) -> bytes | None:
        kept = self._kept.get(topic)
        return kept.payload if kept else None

    def connected(self) -> None:
        """A broker that may have forgotten everything: all is due at once."""
        self._all_at_s = None
        for kept in self._kept.values():
            kept.sent = kept.receipt = None

    def again_at(self, at_s: float) -> None:
        """Somebody has come up who may have missed everything: all is due at `at_s`."""
        if self._all_at_s is None or at_s < self._all_at_s:
            self._all_at_s = at_s

    def pop_due(self, now_s: float) -> list[tuple[str, bytes]]:
        """What is to be sent now, in order; each is to be followed by `sent`."""
        if self._all_at_s is not None and now_s >= self._all_at_s:
            self._all_at_s = None
            for kept in self._kept.values():
                kept.sent = None
        ready = [(topic, self._kept[topic]) for topic in self._order if topic in self._kept]
        return [
            (topic, kept.payload)
            for topic, kept in ready
            if kept.sent != kept.payload and kept.receipt is None
        ]

    def sent(self, topic: str, payload: bytes, receipt: int, now_s: float) -> None:
        kept = self._kept[topic]
        kept.sent, kept.receipt, kept.sent_at_s = payload, receipt, now_s

    def acknowledged(self, receipt: int) -> str | None:
        """The topic that the broker acknowledged, if it is one of these."""
        for topic, kept in self._kept.items():
            if kept.receipt == receipt:
                kept.receipt = None
                return topic
        return None

    def stalled_s(self, now_s: float) -> float:
        """For how long the broker has owed a receipt; 0 when it owes none."""
        owed = [kept.sent_at_s for kept in self._kept.values() if kept.receipt is not None]
        return max(0.0, now_s - min(owed)) if owed else 0.0

    def next_s(self) -> float | None:
        """When something falls due by itself."""
        return self._all_at_s
