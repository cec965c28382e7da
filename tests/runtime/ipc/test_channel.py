"""Channels: in order, never in the way, and nothing that is no message."""

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


def test_mail_waits_for_a_process_that_is_restarted() -> None:
    ends = channel.pair()
    Channel(ends[0]).send(Think(1, (2, 3)))
    first = Channel(ends[1])
    del first
    fd = os.dup(ends[1].fileno())
    assert Channel(socket.socket(fileno=fd)).receive() == Think(1, (2, 3))


def test_a_full_mailbox_refuses_and_does_not_block() -> None:
    near, _far = (Channel(end) for end in channel.pair())
    taken = 0
    while taken < 10_000 and near.send(Ask("x" * 1000)):
        taken += 1
    assert 0 < taken < 10_000


def test_bytes_that_are_no_message_are_skipped_and_named() -> None:
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
def test_each_kind_at_its_largest_arrives_whole_and_so_does_its_copy(
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


# ── what is longer ───────────────────────────────────────────────────────────────────────────
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
def test_what_is_too_long_is_cut_to_fit_and_the_log_says_so_once(
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
def test_what_can_be_cut_to_nothing_sound_is_never_sent_and_never_raises(
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
