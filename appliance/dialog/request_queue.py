"""What is said or asked once nothing else sounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.messages.commands import Ask, Repeat, Say

MOST_WAITING = 5  # announcements and typed questions in line; more are refused
QueuedRequest = Say | Ask | Repeat


@dataclass(frozen=True)
class RequestQueue:
    """Requests in the order in which they are done.

    requests  at most MOST_WAITING, and what the box itself put before them
    refused   more was refused since the first of them came; the log has one line for that
    """

    requests: tuple[QueuedRequest, ...] = ()
    refused: bool = False

    @property
    def full(self) -> bool:
        return len(self.requests) >= MOST_WAITING

    def add(self, request: QueuedRequest) -> RequestQueue:
        """One more at the end; a full queue refuses it."""
        if self.full:
            return replace(self, refused=True)
        return RequestQueue((*self.requests, request), self.refused and bool(self.requests))

    def add_first(self, request: Say) -> RequestQueue:
        """What the box itself has to say comes first, whatever waits."""
        return replace(self, requests=(request, *self.requests))

    def remove_first(self) -> RequestQueue:
        return replace(self, requests=self.requests[1:])

    def clear(self) -> RequestQueue:
        return replace(self, requests=())
