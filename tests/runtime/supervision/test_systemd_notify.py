"""Notifications to systemd by a supervisor with real parts, and by the notifier alone."""

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
def test_under_systemd_only_a_crash_looping_required_part_ends_the_supervisor(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, managed: bool, needed: bool
) -> None:
    sent: list[bytes] = []
    if managed:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listening.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        reading = threading.Thread(
            target=lambda: sent.extend(iter(lambda: listening.recv(99), b""))
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
        assert (b"STOPPING=1" in sent) == (not needed)  # otherwise the exit code reports it


@pytest.mark.process
def test_systemd_gets_ready_once_and_the_watchdog_only_while_all_parts_beat(
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
    sent = notes()
    assert any(note.startswith("READY=1") for note in sent)
    assert any(line.startswith("WATCHDOG=1\n") for line in sent)
    os.kill(pid(supervisor, "first"), signal.SIGSTOP)
    time.sleep(1.1)  # frozen beyond its limit, and not yet handled
    supervisor._report_status(time.monotonic())
    assert not any("WATCHDOG" in note for note in notes())


# ── without a supervisor ─────────────────────────────────────────────────────────────────────
Notifications = Callable[[], list[str]]


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notifications]:
    """A service manager. Returns the notifications since the last call."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))

        def sent() -> list[str]:
            found = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    found.append(listening.recv(1000).decode())
            return found

        yield sent


def test_ready_is_sent_once_and_the_status_at_each_change(systemd: Notifications) -> None:
    notifier = SystemdNotifier()
    assert notifier.managed
    notifier.notify(0.0, ready=False, healthy=False, status="starting")
    notifier.notify(0.5, ready=False, healthy=False, status="starting")
    assert systemd() == ["STATUS=starting"]
    notifier.notify(1.0, ready=True, healthy=False, status="idle")
    notifier.notify(2.0, ready=True, healthy=False, status="idle")
    assert systemd() == ["STATUS=idle", "READY=1"]  # in this order: ready is never without a status
    notifier.notify(3.0, ready=False, healthy=False, status="speaking")
    assert systemd() == ["STATUS=speaking"]


def test_the_watchdog_is_fed_at_intervals_while_all_parts_are_healthy(
    systemd: Notifications,
) -> None:
    notifier = SystemdNotifier()
    for at_s in (0.0, FEED_S / 2, FEED_S, 1.5 * FEED_S):
        notifier.notify(at_s, ready=False, healthy=True, status="idle")
    assert systemd() == ["STATUS=idle", *["WATCHDOG=1\nSTATUS=idle"] * 2]
    notifier.notify(9.0, ready=False, healthy=False, status="idle")
    assert systemd() == []


def test_while_a_model_loads_each_feeding_extends_the_start_timeout(systemd: Notifications) -> None:
    SystemdNotifier().notify(0.0, ready=False, healthy=True, status="idle", reading=True)
    assert systemd()[1:] == ["WATCHDOG=1\nSTATUS=idle", f"EXTEND_TIMEOUT_USEC={EXTEND_S}000000"]


def test_a_systemd_that_does_not_read_blocks_nothing(systemd: Notifications) -> None:
    notifier = SystemdNotifier()
    for number in range(10_000):  # more than the socket holds
        notifier.notify(number * FEED_S, ready=True, healthy=True, status="idle")
    assert 0 < len(systemd()) < 10_000


def test_without_systemd_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notifier = SystemdNotifier()
    assert not notifier.managed
    notifier.notify(0.0, ready=True, healthy=True, status="idle")
    notifier.stopping()
