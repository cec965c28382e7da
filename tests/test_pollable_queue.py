"""A queue between threads: ordered, never blocking, readable for poll(2) while it has items."""

from __future__ import annotations

import gc
import os
import select
import threading

import pytest

from appliance.pollable_queue import PollableQueue
from tests.waiting import PATIENCE_S


def readable(queue: PollableQueue[int], wait_s: float = 0.0) -> bool:
    return bool(select.select([queue], [], [], wait_s)[0])


def test_items_are_returned_once_and_in_order() -> None:
    queue: PollableQueue[int] = PollableQueue()
    assert not readable(queue)
    for number in range(3):
        queue.put(number)
    assert readable(queue)
    assert queue.pop_all() == [0, 1, 2]
    assert not readable(queue)
    assert queue.pop_all() == []


def test_a_full_queue_keeps_the_newest_items() -> None:
    queue: PollableQueue[int] = PollableQueue(most=2)
    for number in range(5):
        queue.put(number)
    assert queue.pop_all() == [3, 4]


def test_it_can_be_made_readable_without_an_item() -> None:
    queue: PollableQueue[int] = PollableQueue()
    queue.wake()
    assert readable(queue)
    assert queue.pop_all() == []
    assert not readable(queue)


def test_items_from_another_thread_are_not_lost_and_each_wakes_the_reader() -> None:
    queue: PollableQueue[int] = PollableQueue()
    numbers = range(2000)

    def put_all() -> None:
        for number in numbers:
            queue.put(number)

    thread = threading.Thread(target=put_all)
    thread.start()
    found: list[int] = []
    while len(found) < len(numbers):
        assert readable(queue, PATIENCE_S)
        found += queue.pop_all()
    thread.join()
    assert found == list(numbers)


@pytest.mark.parametrize("by", ["close", "the last reference"])
def test_its_descriptor_is_closed_once(by: str) -> None:
    queue: PollableQueue[int] = PollableQueue()
    fd = queue.fileno()
    os.fstat(fd)
    if by == "close":
        queue.close()
        queue.close()  # error handling may close it twice
    else:
        del queue
        gc.collect()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(fd)
