"""The queue of announcements and questions that wait until nothing else sounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.messages.commands import Ask, Repeat, Say

MOST_WAITING = 5  # announcements and typed questions; more are refused
QueuedRequest = Say | Ask | Repeat


@dataclass(frozen=True)
class RequestQueue:
    """Requests in the order in which they are done.

    requests  at most MOST_WAITING, plus announcements that the box itself put before them
    refused   a request was refused since the queue was last empty; that is logged once
    """

    requests: tuple[QueuedRequest, ...] = ()
    refused: bool = False

    @property
    def full(self) -> bool:
        return len(self.requests) >= MOST_WAITING

    def add(self, request: QueuedRequest) -> RequestQueue:
        """Append a request; a full queue refuses it."""
        if self.full:
            return replace(self, refused=True)
        return RequestQueue((*self.requests, request), self.refused and bool(self.requests))

    def add_first(self, request: Say) -> RequestQueue:
        """Put an announcement of the box itself first, even if the queue is full."""
        return replace(self, requests=(request, *self.requests))

    def remove_first(self) -> RequestQueue:
        return replace(self, requests=self.requests[1:])

    def clear(self) -> RequestQueue:
        return replace(self, requests=())
