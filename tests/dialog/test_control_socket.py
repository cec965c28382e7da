"""The control socket: shell commands to a running box, from its own user only."""

from __future__ import annotations

import gc
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.cli import memory as memory_commands
from appliance.cli import tell as control_commands
from appliance.dialog.control_socket import MOST_CLIENTS, NAME, ControlSocket, short, socket_paths
from appliance.errors import ControlError, NotRunning
from appliance.messages.commands import (
    CommandRefused,
    Forget,
    Forgotten,
    Mute,
    Say,
    SetVoice,
    SetVolume,
    StateChanged,
    StopSpeaking,
)
from appliance.messages.hearing import Onset
from appliance.messages.registry import Message, decode, encode
from appliance.messages.speech import Speak
from appliance.messages.thinking import Abandon
from tests.dialog.conductor_box import Box, settings_in

STATE = StateChanged("idle", 1, 0)


@pytest.fixture
def control(tmp_path: Path) -> Iterator[ControlSocket]:
    control = ControlSocket(tmp_path / "run" / NAME)
    yield control
    control.close()


def client(tmp_path: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(5.0)
    with short(tmp_path / "run" / NAME) as address:
        line.connect(address)
    return line


def commands(control: ControlSocket) -> list[Message]:
    """The commands received; the first call accepts new clients."""
    control.pop_commands()
    return [command for _, command in control.pop_commands()]


# ── the socket itself ──────────────────────────────────────────────────────────────────────────
def test_a_command_is_received_and_answered_with_the_state(
    control: ControlSocket, tmp_path: Path
) -> None:
    with client(tmp_path) as line:
        line.send(encode(Mute(on=True)))
        control.pop_commands()
        ((who, command),) = control.pop_commands()
        assert command == Mute(on=True)
        control.reply(who, STATE)
        assert decode(line.recv(1000)) == STATE


def test_only_the_boxs_own_user_can_open_the_socket(control: ControlSocket, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / "run" / NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "data", [b"\xff nonsense", encode(Onset(1, 0, speaking=True)), encode(Abandon(1))]
)
def test_a_client_that_sends_an_invalid_message_is_disconnected(
    data: bytes, control: ControlSocket, tmp_path: Path
) -> None:
    with client(tmp_path) as line:
        line.send(data)
        assert commands(control) == []
        assert isinstance(decode(line.recv(1000)), CommandRefused)
        assert line.recv(10) == b""


def test_a_client_that_disconnects_without_a_command_is_removed(
    control: ControlSocket, tmp_path: Path
) -> None:
    client(tmp_path).close()
    assert commands(control) == []
    assert control.pop_commands() == []


def test_a_client_that_disconnects_before_the_reply_does_no_harm(
    control: ControlSocket, tmp_path: Path
) -> None:
    with client(tmp_path) as line:
        line.send(encode(StopSpeaking()))
        control.pop_commands()
        ((who, _),) = control.pop_commands()
    control.reply(who, STATE)
    control.pop_commands()
    control.reply(who, STATE)


def test_a_reply_to_a_disconnected_client_does_not_reach_the_next_client(
    control: ControlSocket, tmp_path: Path
) -> None:
    gc.collect()  # else numbers of earlier tests' descriptors become free meanwhile
    with client(tmp_path) as line:
        line.send(encode(Forget()))
        control.pop_commands()
        ((left, _),) = control.pop_commands()
        descriptors = set(Path("/proc/self/fd").iterdir())
    control.pop_commands()  # the client is disconnected while the order to forget is in progress
    with client(tmp_path) as line:
        control.pop_commands()
        assert set(Path("/proc/self/fd").iterdir()) == descriptors  # numbers are reused
        control.reply(left, Forgotten(problem="The card is full."))
        line.send(encode(Mute(on=True)))
        ((who, _),) = control.pop_commands()
        control.reply(who, STATE)
        assert decode(line.recv(1000)) == STATE


def test_the_oldest_of_too_many_clients_is_disconnected(
    control: ControlSocket, tmp_path: Path
) -> None:
    lines = []
    for _ in range(MOST_CLIENTS + 1):
        lines.append(client(tmp_path))
        control.pop_commands()
    assert lines[0].recv(10) == b""
    lines[-1].send(encode(Say("Tea.")))
    assert [command for _, command in control.pop_commands()] == [Say("Tea.")]
    for line in lines:
        line.close()


def test_a_stale_socket_of_a_killed_box_is_replaced(tmp_path: Path) -> None:
    left = ControlSocket(tmp_path / "run" / NAME)
    left._listener.close()  # as the kernel does at a kill; the file name stays
    control = ControlSocket(tmp_path / "run" / NAME)
    client(tmp_path).close()
    control.close()
    assert not (tmp_path / "run" / NAME).exists()


def test_a_second_box_leaves_the_first_boxs_socket_in_place(
    control: ControlSocket, tmp_path: Path
) -> None:
    with pytest.raises(ControlError, match="another Interlude"):
        ControlSocket(tmp_path / "run" / NAME)
    client(tmp_path).close()


def test_a_socket_that_cannot_be_created_is_an_error_with_its_reason() -> None:
    with pytest.raises(ControlError, match="the control socket cannot be opened"):
        ControlSocket(Path("/proc/nowhere") / NAME)


def test_a_path_longer_than_a_socket_address_works(tmp_path: Path) -> None:
    control = ControlSocket(tmp_path / ("x" * 120) / NAME)
    control.close()


def test_a_box_with_its_own_runtime_directory_puts_its_socket_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    settings = settings_in(tmp_path)
    assert socket_paths(settings) == [tmp_path / NAME]


# ── the commands ─────────────────────────────────────────────────────────────────────────────
@pytest.mark.process
def test_a_running_box_executes_shell_commands(
    box: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    assert control_commands.cli(box.settings, "say", ["tea", "is", "ready"]) == 0
    assert box.get("speaker", Speak).text == "tea is ready"
    assert control_commands.cli(box.settings, "volume", ["30"]) == 0
    assert box.get("playback", SetVolume) == SetVolume(0.3)
    control_commands.cli(box.settings, "mute", [])
    control_commands.cli(box.settings, "mute", ["off"])
    control_commands.cli(box.settings, "mode", ["push-to-talk"])
    control_commands.cli(box.settings, "voice", ["amy"])
    assert box.get("speaker", SetVoice) == SetVoice("amy")
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"The box is {s}." for s in ("speaking", "speaking", "muted", "idle", "idle", "idle")
    ]


@pytest.mark.process
def test_forgetting_reaches_a_running_thinker(box: Box, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory_commands.cli_forget(box.settings) == 0
    assert box.get("thinker", Forget) == Forget()
    assert "The box that runs here has forgotten" in capsys.readouterr().out


@pytest.mark.process
def test_the_socket_is_removed_with_the_box_and_recreated_by_a_restarted_conductor(
    tmp_path: Path,
) -> None:
    box = Box(settings_in(tmp_path))
    box.kill()
    box.until(lambda: box.supervisor.parts["conductor"].announced)
    box.until(lambda: _answers(box))
    box.supervisor.stop_all()
    box.supervisor.close()
    with pytest.raises(NotRunning):
        control_commands.send_command(box.settings, StopSpeaking())


def _answers(box: Box) -> bool:
    try:
        control_commands.send_command(box.settings, StopSpeaking())
    except ControlError:
        return False
    return True
