"""The supervisor's side of the launcher: starts it, and has it fork the parts."""

from __future__ import annotations

import errno
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from appliance.runtime.supervision import launch_messages
from appliance.runtime.supervision.child import Child
from appliance.runtime.supervision.launch_messages import LaunchRequest

END_S = 1.0  # until the launcher has ended by itself
# The matrices are tiny; NumPy's thread pool would cost each part 40 MiB of locked memory.
DEFAULTS = {"OPENBLAS_NUM_THREADS": "1"}
# Variables that take effect only when a program is executed or a module imported.
AT_EXEC = ("LD_", "PYTHON", "OPENBLAS_", "OMP_", "MALLOC_", "GLIBC_")

log = logging.getLogger("supervisor")


class Launcher:
    """Starts processes by a fork of a process that has done their imports.

    The launcher and its processes end with the thread that made this object, as PR_SET_PDEATHSIG
    means a thread by "parent". If the launcher ends, its processes end with it, and the next
    `launch` starts another.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**DEFAULTS, **environment}
        self._start()

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Whether processes with this environment can be forked by this launcher."""
        return _at_exec({**DEFAULTS, **environment}) == _at_exec(self._environment)

    def launch(self, name: str, environment: Mapping[str, str], fds: Sequence[int]) -> Child:
        """Start the process of the row `name`, with the descriptors `fds` under the same numbers.
        Raises OSError when the system has no free descriptor or memory, and for an environment that
        is too large."""
        request = LaunchRequest(name, {**DEFAULTS, **environment}, str(Path.cwd()), tuple(fds))
        sent = [*launch_messages.STREAMS, *fds]
        try:
            try:
                reports = self._send(request, sent)
            except ConnectionError:  # it has ended
                log.error("the launcher has ended; starting it again")
                self.close()
                self._start()
                reports = self._send(request, sent)
        except BlockingIOError:  # it takes no more requests
            self.kill()
            raise
        return Child(name, reports, self)

    def ping(self) -> socket.socket | None:
        """Ask the launcher for an answer; the socket becomes readable with it. None: it takes no
        request."""
        try:
            return self._send(LaunchRequest(launch_messages.PING, {}, "", ()), [])
        except OSError:
            return None

    def _send(self, request: LaunchRequest, fds: Sequence[int]) -> socket.socket:
        """Send a request. Returns the socket of its reports."""
        reports, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reports.setblocking(False)
        data = msgspec.msgpack.encode(request)
        with theirs:
            try:
                if len(data) > launch_messages.MOST_BYTES:  # the launcher would get a part of it
                    raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
                socket.send_fds(self._control, [data], [theirs.fileno(), *fds])
            except OSError:
                reports.close()
                raise
        return reports

    def kill(self) -> None:
        """Kill the launcher, and with it all processes that it has started."""
        self._process.kill()

    def close(self) -> None:
        """End the launcher, and with it all processes that it has started."""
        self._control.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        entry = "appliance.runtime.supervision.launch"
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", entry, str(os.getpid()), str(theirs.fileno())],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # only the supervisor gets the terminal's Ctrl-C
            )


def _at_exec(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_EXEC)}
