"""The control socket with hostile or faulty clients."""

from __future__ import annotations

import os
import random
import resource
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.cli import tell
from appliance.dialog.control_socket import MOST_CLIENTS, NAME, NO_COMMAND, ControlSocket, short
from appliance.errors import ControlError
from appliance.messages.commands import (
    Ask,
    CommandRefused,
    Mute,
    Say,
    SetVolume,
    StateChanged,
    StopSpeaking,
)
from appliance.messages.limits import MAX_WORDS
from appliance.messages.registry import decode, encode
from appliance.messages.thinking import Abandon
from tests.dialog.conductor_box import Box

STATE = StateChanged("idle", 1, 0)


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ControlSocket]:
    control = ControlSocket(tmp_path / NAME)
    yield control
    control.close()


def client(folder: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(5.0)
    with short(folder / NAME) as address:
        line.connect(address)
    return line


def test_a_client_evicted_in_the_same_poll_as_its_command_is_not_read(
    control: ControlSocket, tmp_path: Path
) -> None:
    lines = []
    for _ in range(MOST_CLIENTS):
        lines.append(client(tmp_path))
        control.pop_commands()
    for line in lines:  # all have an event in the same poll as the ninth client
        line.send(encode(Mute(on=True)))
    lines.append(client(tmp_path))
    received = [*control.pop_commands(), *control.pop_commands()]
    assert [command for _, command in received] == [Mute(on=True)] * (MOST_CLIENTS - 1)
    with pytest.raises(ConnectionResetError):  # its command was never read
        lines[0].recv(10)
    for line in lines:
        line.close()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff nonsense", "Not a message we know"),
        (encode(Abandon(1)), NO_COMMAND),
        (encode(Ask("x" * (MAX_WORDS + 1))), f"length <= {MAX_WORDS}"),
        (encode(Say("x" * 59_000)), f"length <= {MAX_WORDS}"),
        (encode(SetVolume(float("nan"))), "Expected `float`"),
        (encode(Say("x"))[:-1], "no message"),
        (b"x" * 150_000, "Not a message we know"),
    ],
    ids=("garbage", "no command", "too long", "much too long", "no number", "cut off", "too large"),
)  # fmt: skip
def test_a_refused_client_receives_the_reason_and_is_disconnected(
    data: bytes, why: str, control: ControlSocket, tmp_path: Path
) -> None:
    with client(tmp_path) as line:
        line.send(data)
        control.pop_commands()
        assert control.pop_commands() == []
        refused = decode(line.recv(1000))
        assert isinstance(refused, CommandRefused)
        assert why in refused.why
        assert line.recv(10) == b""


def test_a_question_of_maximum_length_is_accepted(control: ControlSocket, tmp_path: Path) -> None:
    question = Ask("\U0001f9e1" * MAX_WORDS)
    with client(tmp_path) as line:
        line.send(encode(question))
        control.pop_commands()
        assert [command for _, command in control.pop_commands()] == [question]


def test_a_client_that_never_reads_blocks_nothing_and_is_disconnected(
    control: ControlSocket, tmp_path: Path
) -> None:
    with client(tmp_path) as line:
        line.settimeout(0.0)
        asked = 0
        for _ in range(10_000):
            try:
                line.send(encode(StopSpeaking()))
            except (BlockingIOError, BrokenPipeError, ConnectionResetError) as error:
                if not isinstance(error, BlockingIOError):
                    break
            for who, _ in control.pop_commands():
                asked += 1
                control.reply(who, STATE)
        assert asked > 10
        assert not control._clients


def test_without_free_descriptors_the_socket_pauses_and_resumes_later(
    control: ControlSocket, tmp_path: Path
) -> None:
    waiting = client(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.dup(0)
    os.close(lowest_free)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, limits[1]))
        assert control.pop_commands() == []
        readable = _readable(control)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert not readable  # otherwise the conductor would busy-loop
    waiting.send(encode(Say("Tea.")))
    found = [*control.pop_commands(), *control.pop_commands()]
    assert [command for _, command in found] == [Say("Tea.")]
    waiting.close()


def _readable(control: ControlSocket) -> bool:
    poll = select.poll()
    poll.register(control.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@given(
    data=st.binary(max_size=200) | st.binary(max_size=40).map(lambda b: encode(Ask("x")) + b)
    | st.sampled_from(("type", "text", "on")).map(lambda key: b"\x81\xa4" + key.encode())
)  # fmt: skip
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_bytes_do_not_break_the_socket(
    data: bytes, control: ControlSocket, tmp_path: Path
) -> None:
    with client(tmp_path) as line:
        line.send(data or b"\x00")
        control.pop_commands()
        control.pop_commands()
    control.pop_commands()
    assert not control._clients


@pytest.mark.process
def test_many_clients_at_once_do_not_crash_the_conductor(box: Box, tmp_path: Path) -> None:
    conductor = box.supervisor.parts["conductor"].child
    assert conductor is not None
    chance = random.Random(11)
    choices = (b"\xff", b"\x00" * 60_000, encode(StopSpeaking()), encode(Ask("y" * 5000)), b"\x80")
    crowd: list[socket.socket] = []
    end_s = time.monotonic() + 2.0
    while time.monotonic() < end_s:
        box.supervisor.run_once(0.0)
        line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        line.setblocking(False)
        try:
            with short(tmp_path / NAME) as address:
                line.connect(address)
            for _ in range(chance.randrange(4)):
                line.send(chance.choice(choices))
        except OSError:
            line.close()
            continue
        crowd.append(line)
        if len(crowd) > 20:
            crowd.pop(chance.randrange(20)).close()
    for line in crowd:
        line.close()
    assert conductor.poll() is None
    assert tell.send_command(box.settings, StopSpeaking()).state == "idle"


@pytest.mark.process
def test_a_refusal_at_the_socket_carries_its_text(box: Box) -> None:
    with pytest.raises(ControlError, match=f"refuses that.*length <= {MAX_WORDS}"):
        tell.send_command(box.settings, Ask("x" * (MAX_WORDS + 1)))
