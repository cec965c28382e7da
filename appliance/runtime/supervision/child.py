"""A child process of the supervisor and its descendants: a process group."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import socket
import time
from typing import Protocol

from appliance.runtime.supervision import launch_messages
from appliance.runtime.supervision.launch_messages import ReportKind

REPORT_S = 1.0  # the launcher reports the end of a process, and answers, within this time

log = logging.getLogger("supervisor")


class ForkServer(Protocol):
    """The launcher, as a child uses it."""

    def kill(self) -> None:
        """Kill the launcher, and with it all of its processes."""

    def ping(self) -> socket.socket | None:
        """Ask it for an answer; the socket becomes readable with it. None: it takes no request."""


class Child:
    """A process that the launcher forks; no method waits for it.

    `reports`: the socket on which the launcher reports its start and its end.
    """

    def __init__(self, name: str, reports: socket.socket, launcher: ForkServer) -> None:
        self._name = name
        self._reports = reports
        self._launcher = launcher
        self._pid = 0  # 0: its start has not been reported yet
        self._pidfd = -1
        self._code: int | None = None
        self._terminating = self._launcher_gone = False
        self._ended_s: float | None = None  # when it was seen to have ended without a report
        self._question: socket.socket | None = None  # to the launcher, which did not report

    @property
    def fd(self) -> int:
        """For poll(2): readable when `poll` has something to do."""
        return self._reports.fileno()

    @property
    def pid(self) -> int:
        """Its process id; 0 until the launcher has reported it."""
        if not self._pid:
            self.poll()
        return self._pid

    def poll(self) -> int | None:
        """Its exit code, or None while it runs. When it has ended, its descendants have been
        killed."""
        while self._code is None and not self._launcher_gone:
            try:
                data, fds, _, _ = socket.recv_fds(self._reports, 64, 1)
            except BlockingIOError:
                self._expect_report(time.monotonic())
                return None
            except OSError:
                data, fds = b"", []
            self._read(data, fds)
        if self._code is None and (self._pidfd < 0 or _is_readable(self._pidfd)):
            self._code = -signal.SIGKILL
        return self._code

    def _read(self, data: bytes, fds: list[int]) -> None:
        if not data:
            self._lose_launcher()
            return
        kind, value = launch_messages.read_report(data)
        if kind is ReportKind.STARTED:
            self._pid, self._pidfd = value, fds[0] if fds else -1
            if self._terminating:
                self.terminate()
        elif kind is ReportKind.NOT_STARTED:
            log.error("%s cannot be started: %s", self._name, os.strerror(value))
            self._code = os.EX_OSERR
        else:
            self._code = value

    def _expect_report(self, now_s: float) -> None:
        """Ask a launcher that does not report the end of this process, and kill it if it does not
        answer. One that answers cannot reap the process yet, which is traced, say."""
        if self._pidfd < 0 or not _is_readable(self._pidfd):
            return
        if self._ended_s is None:
            self._ended_s = now_s
        elif now_s - self._ended_s > 2 * REPORT_S:
            if self._question is None or not _is_readable(self._question.fileno()):
                log.error("the launcher hangs and is killed")
                self._launcher.kill()
            self._ended_s = None
            self._close_question()
        elif now_s - self._ended_s > REPORT_S and self._question is None:
            self._question = self._launcher.ping()

    def _close_question(self) -> None:
        if self._question is not None:
            self._question.close()
            self._question = None

    def _lose_launcher(self) -> None:
        """The launcher has ended. The kernel kills this process then, and its pidfd, which becomes
        readable at its end, takes the place of the reports."""
        self._launcher_gone = True
        if self._pidfd >= 0:
            os.dup2(self._pidfd, self._reports.fileno(), inheritable=False)
            self.kill()

    def terminate(self) -> None:
        """Send SIGTERM, and SIGCONT in case it is stopped; once it has started."""
        self._terminating = True
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to it and its descendants. A process blocked in the kernel may remain. If
        the launcher has not started it yet, the launcher hangs, and is killed."""
        started = self.pid
        if self._code is not None:
            return
        if not started:
            self._launcher.kill()
        elif self._signal(signal.SIGKILL):  # it may not have created its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)

    def _signal(self, number: int) -> bool:
        """Send a signal. False if the process has been reaped, or has not started."""
        if self._code is not None or not self._pid:
            return False
        try:
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, number)
            else:
                os.kill(self._pid, number)
        except ProcessLookupError:
            return False
        return True

    def close(self) -> None:
        """Close the descriptors."""
        self._reports.close()
        self._close_question()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1


def _is_readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


def how_it_ended(code: int) -> str:
    """An exit code of `Child.poll` in words; negative codes are signals."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:  # of the real-time signals only the first and the last have a name
        return f"was ended by signal {-code}"
