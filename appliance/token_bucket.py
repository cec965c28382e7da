"""A token bucket: limits the rate of messages from outside. Pure."""

from __future__ import annotations


class TokenBucket:
    """Holds at most `burst` tokens, and gains `rate_hz` a second. `ready`: tokens at `now_s`; None:
    `burst`. Times are seconds of one monotonic clock."""

    def __init__(
        self, burst: int, rate_hz: float, now_s: float, *, ready: int | None = None
    ) -> None:
        self._burst, self._rate_hz, self._at_s = burst, rate_hz, now_s
        self._tokens = float(burst if ready is None else ready)

    def tokens(self, now_s: float) -> float:
        """Tokens at `now_s`: below 1 none can be spent; negative after overspending."""
        gained = max(0.0, now_s - self._at_s) * self._rate_hz
        self._tokens, self._at_s = min(self._burst, self._tokens + gained), now_s
        return self._tokens

    def spend(self, tokens: int = 1) -> None:
        """Take tokens, even if there are not enough: the count may become negative."""
        self._tokens -= tokens

    def try_spend(self, now_s: float) -> bool:
        """Spend a token if there is one. Returns whether there was."""
        if self.tokens(now_s) < 1.0:
            return False
        self.spend()
        return True
