"""How often browsers without access may make the box speak: rarely, and more rarely while none of
them is let in. Pure.

Three times at once, then every 20 minutes, and from the fourth time on every 40 minutes. One
network (connection_places.py) has two of the three, and its pauses double up to 160 minutes: it
never takes the last one, so that a stranger at one address does not keep the owner out.
"""

from __future__ import annotations

from appliance.token_bucket import TokenBucket

PAUSE_S = 1200.0
MOST, MOST_OF_ONE = 3, 2  # announcements at once: in all, and for one network
LONGEST, LONGEST_OF_ONE = 2, 8  # pauses after an announcement, at most
MOST_NETWORKS = 64  # that are remembered


class _Budget:
    """`burst` announcements at once. Each one that follows costs twice as many pauses as the one
    before, at most `longest`."""

    def __init__(self, burst: int, longest: int, now_s: float) -> None:
        self._burst, self._longest, self._spent = burst, longest, 0
        self._bucket = TokenBucket(burst, 1 / PAUSE_S, now_s)

    def wait_s(self, now_s: float) -> float:
        return max(0.0, 1.0 - self._bucket.tokens(now_s)) * PAUSE_S

    def spend(self) -> None:
        self._spent += 1
        doublings = min(max(0, self._spent - self._burst), self._longest)
        self._bucket.spend(min(2**doublings, self._longest))


class AnnouncementLimit:
    """A new one at each success: nobody is guessing, then. Times are of one monotonic clock."""

    def __init__(self, now_s: float) -> None:
        self._all = _Budget(MOST, LONGEST, now_s)
        self._of: dict[str, _Budget] = {}

    def wait_s(self, network: str, now_s: float) -> float:
        """Seconds until `network` may have an announcement; 0: it may have one now."""
        own = self._of.get(network)
        return max(self._all.wait_s(now_s), own.wait_s(now_s) if own else 0.0)

    def spend(self, network: str, now_s: float) -> None:
        """Count an announcement for `network`."""
        if network not in self._of and len(self._of) >= MOST_NETWORKS:
            self._of.pop(next(iter(self._of)))
        self._all.spend()
        self._of.setdefault(network, _Budget(MOST_OF_ONE, LONGEST_OF_ONE, now_s)).spend()
