"""The queue of announcements and typed questions: ordered and bounded."""

from __future__ import annotations

from appliance.dialog.request_queue import MOST_WAITING, RequestQueue
from appliance.messages.commands import Ask, Repeat, Say


def filled(count: int) -> RequestQueue:
    queue = RequestQueue()
    for number in range(count):
        queue = queue.add(Say(f"line {number}"))
    return queue


def test_requests_keep_their_order() -> None:
    queue = RequestQueue().add(Say("tea")).add(Ask("why?")).add(Repeat())
    assert queue.requests == (Say("tea"), Ask("why?"), Repeat())
    assert queue.remove_first().requests == (Ask("why?"), Repeat())


def test_a_full_queue_refuses_more() -> None:
    assert not filled(MOST_WAITING - 1).full
    full = filled(MOST_WAITING)
    assert (full.full, full.refused) == (True, False)
    more = full.add(Say("one more"))
    assert (more.requests, more.refused) == (full.requests, True)


def test_the_boxs_own_announcements_come_first_even_if_the_queue_is_full() -> None:
    queue = filled(MOST_WAITING).add_first(Say("sorry"))
    assert queue.requests[0] == Say("sorry")
    assert len(queue.requests) == MOST_WAITING + 1
    assert queue.full


def test_a_refusal_is_remembered_until_the_queue_is_empty() -> None:
    refused = filled(MOST_WAITING).add(Say("one more"))
    assert refused.remove_first().add(Say("again")).refused
    assert not refused.clear().add(Say("again")).refused


def test_a_cleared_queue_has_no_requests() -> None:
    assert filled(3).clear().requests == ()
    assert RequestQueue().remove_first().requests == ()
