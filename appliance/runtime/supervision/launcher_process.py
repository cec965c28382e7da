"""The launcher: a process that has imported what every part needs, and forks the parts.

In: requests of the supervisor. Out: processes, and the start and end of each. A fork takes some
milliseconds where the imports take a quarter of a second, and the parts share the imported pages.
It has one thread and no state of a part, so that each part starts from the same memory.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
from collections.abc import Sequence

import msgspec
import setproctitle

import appliance.runtime.ipc.ring  # noqa: F401  # with numpy: nearly every part has a ring
from appliance.runtime.supervision import launch_messages
from appliance.runtime.supervision.launch_messages import LaunchRequest, ReportKind
from appliance.runtime.supervision.parent_death import ORPHANED, bind_to

_BLOCKED = (signal.SIGINT, signal.SIGTERM)


def serve(control_fd: int) -> str | None:
    """Fork a process for each request until the supervisor closes its end. Returns in each forked
    process, with the name of its row, and at last in the launcher, with None."""
    setproctitle.setproctitle("interlude: launcher")
    control = socket.socket(fileno=control_fd)
    # Only the supervisor stops the parts, in order. Blocked and not ignored: a signal to a process
    # that has just been forked must not be lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    gc.collect()
    gc.freeze()  # else the collector of each part would write to, and so copy, every shared page
    request = _Launcher(control).run()
    if request is None:
        return None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)
    return request.name


class _Launcher:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._reports: dict[int, socket.socket] = {}  # process id → where its end is reported
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self) -> LaunchRequest | None:
        """As `serve`."""
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler, so that it writes to the pipe
        poll = select.poll()
        for fd in (self._control.fileno(), self._wake_read):
            poll.register(fd, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self._wake_read:
                    os.read(fd, 4096)
                    self._report_ends()
                    continue
                data, fds, _, _ = socket.recv_fds(
                    self._control, launch_messages.MOST_BYTES, launch_messages.MOST_FDS
                )
                if not data:
                    return None
                request = msgspec.msgpack.decode(data, type=LaunchRequest)
                if self._fork(request, fds):
                    return request

    def _fork(self, request: LaunchRequest, fds: Sequence[int]) -> bool:
        """Start a process. True in the new one."""
        launcher = os.getpid()
        reports = socket.socket(fileno=fds[0])
        if request.name == launch_messages.PING:
            reports.close()
            return False
        try:
            pid = os.fork()
        except OSError as error:
            _send(reports, ReportKind.NOT_STARTED, error.errno or 0)
            reports.close()
            pid = -1
        if pid == 0:
            if not bind_to(launcher):
                os._exit(ORPHANED)
            reports.close()
            self._forget_all()
            _set_up(request, list(fds[1:]))
            return True
        for fd in fds[1:]:
            os.close(fd)
        if pid > 0:
            self._reports[pid] = reports
            _send_started(reports, pid)
        return False

    def _forget_all(self) -> None:
        """Close, in a new process, what belongs to the launcher."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in (self._control, *self._reports.values()):
            other.close()
        for fd in (self._wake_read, self._wake_write):
            os.close(fd)

    def _report_ends(self) -> None:
        """Reap the processes that have ended. The descendants of each are killed before: until then
        no other process group can have its id."""
        for pid, reports in list(self._reports.items()):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            try:
                os.killpg(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass  # it ended before it had made its group
            _, status = os.waitpid(pid, 0)
            _send(reports, ReportKind.ENDED, os.waitstatus_to_exitcode(status))
            reports.close()
            del self._reports[pid]


def _send(reports: socket.socket, kind: ReportKind, value: int) -> None:
    try:
        reports.send(launch_messages.report(kind, value))
    except OSError:
        return  # the supervisor has forgotten this process


def _send_started(reports: socket.socket, pid: int) -> None:
    """Report a new process with its pidfd, by which it can be signalled without a race."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:  # out of descriptors
        _send(reports, ReportKind.STARTED, pid)
        return
    try:
        socket.send_fds(reports, [launch_messages.report(ReportKind.STARTED, pid)], [pidfd])
    except OSError:
        return
    finally:
        os.close(pidfd)


def _set_up(request: LaunchRequest, fds: list[int]) -> None:
    """Give a new process its group, descriptors, environment and working folder."""
    os.setpgid(0, 0)  # only the supervisor gets the terminal's Ctrl-C
    place(fds, [*launch_messages.STREAMS, *request.fds])
    for stream in launch_messages.STREAMS:
        os.set_inheritable(stream, True)
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()
    os.chdir(request.folder)


def place(fds: list[int], numbers: Sequence[int]) -> None:
    """Move the descriptors `fds` to `numbers`, each of which may be one of `fds` that is moved
    later. They are closed on exec. Raises OSError for a number beyond RLIMIT_NOFILE."""
    for at, number in enumerate(numbers):
        if number in fds[at + 1 :]:
            later = fds.index(number, at + 1)
            fds[later] = os.dup(number)
        if fds[at] != number:
            os.dup2(fds[at], number, inheritable=False)
            os.close(fds[at])
