"""A token bucket: how many of a stranger's messages are acted on. Pure."""

from __future__ import annotations


class TokenBucket:
    """`burst` at once, then `rate_hz` a second on average. `ready`: how many of the burst may come
    right after `now_s`; all of them if None. Times are of one clock that never runs backwards."""

    def __init__(
        self, burst: int, rate_hz: float, now_s: float, *, ready: int | None = None
    ) -> None:
        self._burst, self._rate_hz, self._at_s = burst, rate_hz, now_s
        self._tokens = float(burst if ready is None else ready)

    def tokens(self, now_s: float) -> float:
        """How many there are now; below 1 there is none, and below 0 more were spent."""
        gained = max(0.0, now_s - self._at_s) * self._rate_hz
        self._tokens, self._at_s = min(self._burst, self._tokens + gained), now_s
        return self._tokens

    def spend(self, tokens: int = 1) -> None:
        """Of what there is, or is to come."""
        self._tokens -= tokens

    def try_spend(self, now_s: float) -> bool:
        """Whether there was one; then it is spent."""
        if self.tokens(now_s) < 1.0:
            return False
        self.spend()
        return True
