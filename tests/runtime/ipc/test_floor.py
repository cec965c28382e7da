"""The floor, the heartbeat and the channel."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import msgpack

from appliance.errors import BadMessage
from appliance.messages.commands import Ask
from appliance.messages.hearing import Onset
from appliance.messages.registry import decode, encode
from appliance.messages.thinking import Think
from appliance.runtime.ipc import channel, floor, heartbeat
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.ipc.floor import Floor
from appliance.runtime.ipc.heartbeat import Heartbeat

ROOT = Path(__file__).parents[3]


def test_the_floor_is_free_at_first() -> None:
    words = Floor(floor.create())
    assert (words.turn, words.hold, words.released) == (0, 0, 0)
    assert not words.held


def test_the_microphone_is_muted_until_it_is_known_what_it_was() -> None:
    words = Floor(floor.create())
    assert (words.muted, words.deaf, words.mute_unknown) == (True, True, True)
    for known in (False, True):
        words.muted = known
        assert (words.muted, words.deaf, words.mute_unknown) == (known, known, False)


def test_each_word_keeps_to_itself() -> None:
    words = Floor(floor.create())
    words.turn, words.hold, words.released, words.muted = 2**63, 7, 6, True
    assert (words.turn, words.hold, words.released, words.muted) == (2**63, 7, 6, True)


def test_an_onset_holds_the_floor_until_its_serial_is_released() -> None:
    words = Floor(floor.create())
    words.hold = 5
    assert words.held
    words.released = 5
    assert not words.held


def test_a_press_is_there_until_it_is_taken() -> None:
    words = Floor(floor.create())
    words.press += 1
    assert (words.pressed, words.held) == (True, False)
    words.press_taken = words.press
    assert not words.pressed


def test_the_switch_the_long_press_and_the_conductor_each_make_the_box_deaf_alone() -> None:
    words = Floor(floor.create())
    for muted, switched_off, closed in itertools.product((False, True), (False, True), (0, 1)):
        words.muted, words.switched_off, words.closed = muted, switched_off, closed
        assert words.deaf == (muted or switched_off or bool(closed))


def test_a_closing_lasts_until_that_very_one_is_opened() -> None:
    words = Floor(floor.create())
    words.muted = False
    words.closed += 1
    known = words.closed
    words.closed += 1
    words.opened = known
    assert words.deaf
    words.opened = words.closed
    assert not words.deaf


@pytest.mark.process
def test_another_process_sees_the_words() -> None:
    fd = floor.create()
    words = Floor(fd)
    words.turn = 41
    code = f"from appliance.runtime.ipc.floor import Floor\nf = Floor({fd})\nf.hold = f.turn + 1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], pass_fds=[fd], check=True, env=environment)
    assert words.hold == 42


def test_a_heart_ages_until_it_beats() -> None:
    fd = heartbeat.create(3)
    hearts = [Heartbeat(fd, slot) for slot in range(3)]
    for heart in hearts:
        heart.reset(1_000_000_000)
    hearts[1].beat(3_000_000_000)
    assert [h.age_s(4_000_000_000) for h in hearts] == [3.0, 1.0, 3.0]


def test_a_restarted_process_is_not_ready_until_it_says_so() -> None:
    heart = Heartbeat(heartbeat.create(1), 0)
    heart.mark_ready()
    assert heart.is_ready
    heart.reset(0)
    assert not heart.is_ready


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


@pytest.mark.parametrize("data", [b"", b"\xc0", encode(Think(1))[:-1], encode(Think(1)) + b"\x00"])
def test_damaged_messages_raise_bad_message(data: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(data)


def test_a_field_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(BadMessage, match="serial"):
        decode(msgpack.encode({"type": "Onset", "serial": "one", "index": 0, "speaking": True}))
