"""A queue between two threads; its reader waits in poll(2).

In: items, from any thread. Out: the items in their order; `fileno` is readable while there are any.
Neither side waits for the other.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from contextlib import suppress
from typing import Generic, TypeVar

Item = TypeVar("Item")


class PollableQueue(Generic[Item]):
    """`most`: limit; a full queue drops its oldest item. None: no limit.

    The descriptor is closed by `close`, or with the last reference to the queue.
    """

    def __init__(self, most: int | None = None) -> None:
        self._items: deque[Item] = deque(maxlen=most)
        self._event_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._close = weakref.finalize(self, os.close, self._event_fd)

    def fileno(self) -> int:
        """Readable after `put` or `wake`, until `pop_all`."""
        return self._event_fd

    def put(self, item: Item) -> None:
        self._items.append(item)
        self.wake()

    def wake(self) -> None:
        """Make the descriptor readable without an item."""
        os.eventfd_write(self._event_fd, 1)

    def pop_all(self) -> list[Item]:
        """The items so far, oldest first. The descriptor is not readable afterwards."""
        with suppress(BlockingIOError):
            os.eventfd_read(self._event_fd)  # first: a later `put` makes it readable again
        return [self._items.popleft() for _ in range(len(self._items))]

    def close(self) -> None:
        """Close the descriptor; neither side may use the queue afterwards."""
        self._close()
