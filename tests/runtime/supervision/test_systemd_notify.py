"""What systemd is told, and the file beside it: of a supervisor with real parts."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.runtime.supervision.failure_rate import ENDS
from appliance.runtime.supervision.systemd_notify import EXTEND_S, FEED_S, SystemdNotifier
from tests.runtime.small_parts import Make, pid, until


@pytest.mark.process
@pytest.mark.parametrize(("managed", "needed"), [(True, True), (True, False), (False, True)])
def test_a_box_of_systemds_is_given_up_for_a_needed_part_that_keeps_ending_and_for_no_other(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, managed: bool, needed: bool
) -> None:
    told: list[bytes] = []
    if managed:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listening.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        reading = threading.Thread(
            target=lambda: told.extend(iter(lambda: listening.recv(99), b""))
        )
        reading.start()
    supervisor = parts({"conductor": "lives", "capture": "dies at once"}, needed=needed)
    supervisor.start()
    capture = supervisor.parts["capture"]
    until(supervisor, lambda: supervisor.given_up or capture.starts > ENDS, 60.0)
    assert supervisor.given_up == supervisor.stopping == (managed and needed)
    supervisor.stop_all()
    if managed:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", str(tmp_path / "notify"))
        reading.join()
        assert (b"STOPPING=1" in told) == (not needed)  # else its exit code says it


@pytest.mark.process
def test_systemd_is_told_when_all_is_ready_and_fed_only_while_all_hearts_beat(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notify"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(str(path))
    listening.setblocking(False)
    monkeypatch.setenv("NOTIFY_SOCKET", str(path))

    def notes() -> list[str]:
        found = []
        while True:
            try:
                found.append(listening.recv(1000).decode())
            except BlockingIOError:
                return found

    supervisor = parts({"first": "works"}, silent_s=1.0)
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)
    told = notes()
    assert any(note.startswith("READY=1") for note in told)
    assert "WATCHDOG=1" in told
    os.kill(pid(supervisor, "first"), signal.SIGSTOP)
    time.sleep(1.1)  # frozen beyond its limit, and not yet looked after
    supervisor._report_status(time.monotonic())
    assert notes() == []


# ── without a supervisor ─────────────────────────────────────────────────────────────────────
Told = Callable[[], list[str]]


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """A service manager; returns what it was told since the last look."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))

        def told() -> list[str]:
            found = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    found.append(listening.recv(1000).decode())
            return found

        yield told


def test_ready_is_said_once_and_the_status_when_it_changes(systemd: Told) -> None:
    notifier = SystemdNotifier()
    assert notifier.managed
    notifier.notify(0.0, ready=False, healthy=False, missing="")
    assert systemd() == []
    notifier.notify(1.0, ready=True, healthy=False, missing="")
    notifier.notify(2.0, ready=True, healthy=False, missing="")
    assert systemd() == ["READY=1", "STATUS=listening"]
    notifier.notify(3.0, ready=True, healthy=False, missing="words, link")
    notifier.notify(4.0, ready=False, healthy=False, missing="")
    assert systemd() == ["STATUS=without words, link", "STATUS=listening"]


def test_the_watchdog_is_fed_while_all_is_well_and_not_at_every_look(systemd: Told) -> None:
    notifier = SystemdNotifier()
    for at_s in (0.0, FEED_S / 2, FEED_S, 1.5 * FEED_S):
        notifier.notify(at_s, ready=False, healthy=True, missing="")
    assert systemd() == ["WATCHDOG=1"] * 2
    notifier.notify(9.0, ready=False, healthy=False, missing="")
    assert systemd() == []


def test_while_it_reads_the_start_is_given_more_time_with_each_feeding(systemd: Told) -> None:
    SystemdNotifier().notify(0.0, ready=False, healthy=True, missing="", reading=True)
    assert systemd() == ["WATCHDOG=1", f"EXTEND_TIMEOUT_USEC={EXTEND_S}000000"]


def test_a_systemd_that_reads_nothing_stops_nobody(systemd: Told) -> None:
    notifier = SystemdNotifier()
    for number in range(10_000):  # more than its mailbox holds
        notifier.notify(number * FEED_S, ready=True, healthy=True, missing="")
    assert 0 < len(systemd()) < 10_000


def test_without_systemd_nobody_is_told_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notifier = SystemdNotifier()
    assert not notifier.managed
    notifier.notify(0.0, ready=True, healthy=True, missing="")
    notifier.stopping()
