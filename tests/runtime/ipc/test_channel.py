"""Channels deliver messages in order, never block, and skip invalid data."""

from __future__ import annotations

import logging
import math
import os
import socket
from typing import Any, cast

import pytest

from appliance.errors import BadMessage
from appliance.messages.commands import Ask, ModeName, SetMode, SetVoice, SetVolume
from appliance.messages.hearing import Onset
from appliance.messages.limits import cut
from appliance.messages.registry import Mail, ObservedMessage
from appliance.messages.speech import Speak
from appliance.messages.thinking import (
    AnswerHeard,
    Sentence,
    Think,
)
from appliance.runtime.ipc import channel
from appliance.runtime.ipc.channel import Channel
from tests.messages.largest import KINDS, WIDE, build


def test_messages_arrive_in_order() -> None:
    near, far = (Channel(end) for end in channel.pair())
    sent = [Onset(serial, 16_000 * serial, True) for serial in range(20)]
    assert all(near.send(message) for message in sent)
    assert list(far.receive_all()) == sent
    assert far.receive() is None


def test_messages_are_kept_for_a_restarted_process() -> None:
    ends = channel.pair()
    Channel(ends[0]).send(Think(1, (2, 3)))
    first = Channel(ends[1])
    del first
    fd = os.dup(ends[1].fileno())
    assert Channel(socket.socket(fileno=fd)).receive() == Think(1, (2, 3))


def test_sending_to_a_full_channel_fails_without_blocking() -> None:
    near, _far = (Channel(end) for end in channel.pair())
    accepted = 0
    while accepted < 10_000 and near.send(Ask("x" * 1000)):
        accepted += 1
    assert 0 < accepted < 10_000


def test_invalid_bytes_are_skipped_and_reported() -> None:
    ends = channel.pair()
    near, far = Channel(ends[0]), Channel(ends[1])
    ends[0].send(b"\x81\xa4type\xa7Unknown")
    ends[0].send(b"\xff\x00 nonsense")
    near.send(Ask("hello"))
    bad: list[BadMessage] = []
    assert list(far.receive_all(bad)) == [Ask("hello")]
    assert len(bad) == 2
    assert "Not a message we know" in str(bad[0])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_largest_message_of_each_kind_and_its_copy_arrive_completely(
    kind: type[Any], caplog: pytest.LogCaptureFixture
) -> None:
    near, far = (Channel(end) for end in channel.pair())
    message = build(kind)
    copy = ObservedMessage(2**63 - 1, WIDE * 100, WIDE * 100, message)
    mail: tuple[Mail, ...] = (message, copy)
    for sent in mail:
        assert near.send(sent)
        assert far.receive() == sent
    assert caplog.records == []


# ── too long ─────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "message",
    [
        AnswerHeard(1, "x" * 2_000_000, complete=True),
        Sentence(1, 0, "half a pair: \ud800" + "y" * 5000),
        SetVoice("\udcff"),
        Think(1, tuple(range(100_000)), "z" * 5000),
        ObservedMessage(1, "a" * 5000, "b", Speak(1, 0, "c" * 70_000)),
    ],
    ids=lambda message: type(message).__name__,
)  # fmt: skip
def test_a_message_that_is_too_long_is_truncated_and_logged_once(
    message: Mail, caplog: pytest.LogCaptureFixture
) -> None:
    near, far = (Channel(end) for end in channel.pair())
    with caplog.at_level(logging.WARNING):
        assert near.send(message)
        assert near.send(message)
    assert far.receive() == far.receive() == cut(message)
    assert len(caplog.records) == 1
    assert "xxx" not in caplog.text


@pytest.mark.parametrize(
    "message",
    [Think(2**70), Think(-1), SetVolume(math.nan), Ask(cast("str", b"\x00")),
     SetMode(cast("ModeName", "x" * 200))],
    ids=lambda message: type(message).__name__,
)  # fmt: skip
def test_a_message_that_cannot_be_made_valid_is_not_sent_and_does_not_raise(
    message: Mail, caplog: pytest.LogCaptureFixture
) -> None:
    near, far = (Channel(end) for end in channel.pair())
    sent = near.send(message)
    if sent:
        with pytest.raises(BadMessage):
            far.receive()
    else:
        assert far.receive() is None
        assert f"a {type(message).__name__} was not sent" in caplog.text
