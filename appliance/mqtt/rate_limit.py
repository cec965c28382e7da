"""How many messages of a broker are read: a flood may not keep the link busy. Pure."""

from __future__ import annotations

# Are read; who sends more waits in the broker's queue, or is dropped there.
MESSAGES_A_SECOND = 200.0
BURST = 200


class MessageRateLimit:
    """So many messages are read a second, some more after a quiet time."""

    def __init__(self, now_s: float) -> None:
        self._left = float(BURST)
        self._at_s = now_s

    def left(self, now_s: float) -> float:
        gained = max(0.0, now_s - self._at_s) * MESSAGES_A_SECOND
        self._left, self._at_s = min(BURST, self._left + gained), now_s
        return self._left

    def spend(self, messages: int) -> None:
        self._left -= messages
