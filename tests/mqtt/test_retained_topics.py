"""The latest of every topic: what is due after a change, a connect, a birth and a stall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.mqtt.retained_topics import RetainedTopics


def states() -> RetainedTopics:
    made = RetainedTopics(("a", "b", "c"))
    for topic in "bca":
        made.set(topic, topic.encode())
    return made


def send(made: RetainedTopics, now_s: float = 0.0, first: int = 1) -> list[str]:
    """Everything that is due, sent and acknowledged. Returns the topics."""
    due = made.pop_due(now_s)
    for number, (topic, payload) in enumerate(due, first):
        made.sent(topic, payload, number, now_s)
        made.acknowledged(number)
    return [topic for topic, _ in due]


def test_all_is_due_in_order_at_first_and_nothing_twice() -> None:
    made = states()
    assert send(made) == ["a", "b", "c"]
    assert send(made) == []


def test_a_change_is_due_and_the_same_again_is_not() -> None:
    made = states()
    send(made)
    made.set("b", b"new")
    made.set("c", b"c")
    assert made.pop_due(0.0) == [("b", b"new")]


def test_a_topic_that_is_on_its_way_waits_for_its_receipt_and_then_only_the_newest_goes() -> None:
    made = states()
    send(made)
    made.set("a", b"1")
    made.sent("a", b"1", 7, 0.0)
    for value in (b"2", b"3", b"4"):
        made.set("a", value)
        assert made.pop_due(0.0) == []
    assert made.acknowledged(7) == "a"
    assert made.pop_due(0.0) == [("a", b"4")]


def test_a_value_that_came_back_while_it_was_on_its_way_is_not_sent_again() -> None:
    made = states()
    send(made)
    made.set("a", b"1")
    made.sent("a", b"1", 7, 0.0)
    made.set("a", b"2")
    made.set("a", b"1")
    made.acknowledged(7)
    assert made.pop_due(0.0) == []


def test_after_a_connect_all_is_due_also_what_was_on_its_way() -> None:
    made = states()
    made.sent("a", b"a", 1, 0.0)
    made.connected()
    assert send(made) == ["a", "b", "c"]


def test_after_a_birth_all_is_due_at_its_time_and_not_before() -> None:
    made = states()
    send(made)
    made.again_at(12.0)
    made.again_at(15.0)  # a second birth soon after: the first answer serves both
    assert send(made, 11.9) == []
    assert made.next_s() == 12.0
    assert send(made, 12.0) == ["a", "b", "c"]
    assert made.next_s() is None
    assert send(made, 16.0) == []


def test_a_receipt_that_is_owed_is_known_by_its_age() -> None:
    made = states()
    assert made.stalled_s(5.0) == 0.0
    made.sent("a", b"a", 1, 5.0)
    made.sent("b", b"b", 2, 6.0)
    assert made.stalled_s(8.0) == 3.0
    made.acknowledged(1)
    assert made.stalled_s(8.0) == 2.0


def test_a_receipt_of_something_else_is_nobodys() -> None:
    made = states()
    made.sent("a", b"a", 1, 0.0)
    assert made.acknowledged(2) is None
    assert made.stalled_s(9.0) == 9.0


def test_a_topic_that_is_not_in_the_order_is_a_fault() -> None:
    with pytest.raises(KeyError):
        states().set("d", b"")


@given(st.lists(st.sampled_from(["set a", "set b", "ack", "connect"]), max_size=60))
def test_whatever_happens_the_broker_ends_with_the_newest_of_each(steps: list[str]) -> None:
    made = states()
    at_broker: dict[str, bytes] = {}
    on_the_way: list[int] = []
    number = 0
    for step in [*steps, *["ack"] * 3, *["ack"] * 3]:
        if step.startswith("set"):
            made.set(step[-1], f"{number}".encode())
        elif step == "connect":
            made.connected()
            on_the_way.clear()
            at_broker.clear()
        while step == "ack" and on_the_way:
            made.acknowledged(on_the_way.pop())
        for topic, payload in made.pop_due(0.0):
            number += 1
            made.sent(topic, payload, number, 0.0)
            at_broker[topic] = payload
            on_the_way.append(number)
        assert len(on_the_way) <= 3
    assert at_broker == {topic: made.value(topic) for topic in "abc"}
