"""The start of the box: what it waits for, for how long, and what it reports to systemd."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path

import pytest

from appliance.runtime import status
from appliance.runtime.ipc import heartbeat
from appliance.runtime.ipc.heartbeat import Heartbeat
from appliance.runtime.supervision.startup import BEGIN_S, READ_S, is_loading, is_started
from appliance.runtime.supervision.supervised_part import SupervisedPart
from tests.runtime.small_parts import Make, row, until


@pytest.mark.process
def test_while_a_model_loads_the_start_continues_and_extends_systemds_timeout(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(str(tmp_path / "notify"))
    listening.setblocking(False)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))

    def notifications() -> set[str]:
        found = set()
        with contextlib.suppress(BlockingIOError):
            while True:
                found.add(listening.recv(1000).decode())
        return found

    read = tmp_path / "read"
    supervisor = parts({"first": "works", "second": f"reads until there is {read}"}, needed=False)
    supervisor.start()
    until(supervisor, lambda: supervisor.is_loading)
    supervisor._report_status(time.monotonic() + 10)
    assert "EXTEND_TIMEOUT_USEC=30000000" in notifications()
    supervisor._started_s -= (
        BEGIN_S + 1
    )  # a part that is not loading would no longer delay the start
    assert (supervisor.is_started, supervisor.is_ready) == (False, False)
    assert (found := status.read_status(tmp_path)) is not None
    assert found.reading
    read.touch()
    until(supervisor, lambda: supervisor.is_ready)
    assert (supervisor.is_started, supervisor.is_loading) == (True, False)
    supervisor._report_status(time.monotonic() + 20)
    assert any(note.startswith("READY=1") for note in notifications())
    supervisor._report_status(time.monotonic() + 30)
    assert not any(note.startswith("EXTEND") for note in notifications())


@pytest.mark.process
def test_systemd_is_told_the_status_on_which_the_health_check_of_an_update_depends(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
        parts({"first": "works"})._report_status(time.monotonic())
        told = listening.recv(1000).decode()
    assert (found := status.read_status(tmp_path)) is not None
    assert told == f"STATUS={status.systemd_line(found)}"


@pytest.mark.process
def test_a_model_that_loads_forever_does_not_delay_the_start_forever(
    parts: Make, tmp_path: Path
) -> None:
    supervisor = parts(
        {"first": "works", "second": f"reads until there is {tmp_path / 'never'}"},
        needed=False,
    )
    supervisor.start()
    until(supervisor, lambda: supervisor.is_loading)
    supervisor._started_s -= READ_S + 1
    assert (supervisor.is_started, supervisor.is_loading) == (True, False)


# ── without a process ────────────────────────────────────────────────────────────────────────
def part(*, needed: bool, state: str = "starts") -> SupervisedPart:
    made = SupervisedPart(row("part", needed=needed), Heartbeat(heartbeat.create(1), 0))
    made.heart.reset(0)
    made.failed = state == "has failed"
    if state == "is ready":
        made.heart.mark_ready()
    return made


@pytest.mark.parametrize(
    ("needed", "state", "over", "over_later"),
    [
        (True, "starts", False, False),  # a required part is waited for indefinitely
        (True, "is ready", True, True),
        (True, "has failed", True, True),
        (False, "starts", False, True),
        (False, "is ready", True, True),
        (False, "has failed", True, True),
    ],
)
def test_the_start_waits_for_required_parts_and_for_others_up_to_a_limit(
    needed: bool, state: str, over: bool, over_later: bool
) -> None:
    parts = [part(needed=True, state="is ready"), part(needed=needed, state=state)]
    assert is_started(parts, BEGIN_S) == over
    assert is_started(parts, BEGIN_S + 0.1) == over_later


def test_a_crash_looping_optional_part_does_not_delay_the_start() -> None:
    ends = part(needed=False)
    for at_s in range(5):
        ends.back_off.started(float(at_s))
        ends.back_off.ended(float(at_s))
    assert is_started([ends], 5.0)


def test_a_start_without_parts_is_over_and_not_loading() -> None:
    assert is_started([], 0.0)
    assert not is_loading([], 0.0)
