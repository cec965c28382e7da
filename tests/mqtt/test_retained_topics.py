"""The newest value of each topic: what is due after a change, a connect, a birth, a stall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.mqtt.retained_topics import RetainedTopics


def states() -> RetainedTopics:
    topics = RetainedTopics(("a", "b", "c"))
    for topic in "bca":
        topics.set(topic, topic.encode())
    return topics


def send(topics: RetainedTopics, now_s: float = 0.0, first: int = 1) -> list[str]:
    """Everything that is due, sent and acknowledged. Returns the topics."""
    due = topics.pop_due(now_s)
    for number, (topic, payload) in enumerate(due, first):
        topics.sent(topic, payload, number, now_s)
        topics.acknowledged(number)
    return [topic for topic, _ in due]


def test_at_first_every_topic_is_due_in_order_and_only_once() -> None:
    topics = states()
    assert send(topics) == ["a", "b", "c"]
    assert send(topics) == []


def test_a_changed_value_is_due_and_an_unchanged_one_is_not() -> None:
    topics = states()
    send(topics)
    topics.set("b", b"new")
    topics.set("c", b"c")
    assert topics.pop_due(0.0) == [("b", b"new")]


def test_a_topic_in_flight_waits_for_its_receipt_and_then_sends_the_newest_value() -> None:
    topics = states()
    send(topics)
    topics.set("a", b"1")
    topics.sent("a", b"1", 7, 0.0)
    for value in (b"2", b"3", b"4"):
        topics.set("a", value)
        assert topics.pop_due(0.0) == []
    assert topics.acknowledged(7) == "a"
    assert topics.pop_due(0.0) == [("a", b"4")]


def test_a_value_restored_while_in_flight_is_not_sent_again() -> None:
    topics = states()
    send(topics)
    topics.set("a", b"1")
    topics.sent("a", b"1", 7, 0.0)
    topics.set("a", b"2")
    topics.set("a", b"1")
    topics.acknowledged(7)
    assert topics.pop_due(0.0) == []


def test_after_a_connect_every_topic_is_due_also_those_in_flight() -> None:
    topics = states()
    topics.sent("a", b"a", 1, 0.0)
    topics.connected()
    assert send(topics) == ["a", "b", "c"]


def test_after_a_birth_every_topic_is_due_at_the_scheduled_time() -> None:
    topics = states()
    send(topics)
    topics.again_at(12.0)
    topics.again_at(15.0)  # a second birth soon after: the first answer serves both
    assert send(topics, 11.9) == []
    assert topics.next_s() == 12.0
    assert send(topics, 12.0) == ["a", "b", "c"]
    assert topics.next_s() is None
    assert send(topics, 16.0) == []


def test_the_stall_time_is_the_age_of_the_oldest_missing_receipt() -> None:
    topics = states()
    assert topics.stalled_s(5.0) == 0.0
    topics.sent("a", b"a", 1, 5.0)
    topics.sent("b", b"b", 2, 6.0)
    assert topics.stalled_s(8.0) == 3.0
    topics.acknowledged(1)
    assert topics.stalled_s(8.0) == 2.0


def test_an_unknown_receipt_is_ignored() -> None:
    topics = states()
    topics.sent("a", b"a", 1, 0.0)
    assert topics.acknowledged(2) is None
    assert topics.stalled_s(9.0) == 9.0


def test_setting_an_unknown_topic_raises_a_key_error() -> None:
    with pytest.raises(KeyError):
        states().set("d", b"")


@given(st.lists(st.sampled_from(["set a", "set b", "ack", "connect"]), max_size=60))
def test_after_any_sequence_the_broker_has_the_newest_value_of_each_topic(steps: list[str]) -> None:
    topics = states()
    at_broker: dict[str, bytes] = {}
    in_flight: list[int] = []
    number = 0
    for step in [*steps, *["ack"] * 3, *["ack"] * 3]:
        if step.startswith("set"):
            topics.set(step[-1], f"{number}".encode())
        elif step == "connect":
            topics.connected()
            in_flight.clear()
            at_broker.clear()
        while step == "ack" and in_flight:
            topics.acknowledged(in_flight.pop())
        for topic, payload in topics.pop_due(0.0):
            number += 1
            topics.sent(topic, payload, number, 0.0)
            at_broker[topic] = payload
            in_flight.append(number)
        assert len(in_flight) <= 3
    assert at_broker == {topic: topics.value(topic) for topic in "abc"}
