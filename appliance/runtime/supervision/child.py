"""A child process of the supervisor and its descendants: a process group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence


class Child:
    """A child process; no method waits for it."""

    def __init__(self, name: str, environment: Mapping[str, str], fds: Sequence[int]) -> None:
        """Start the process of the row `name`. Raises OSError when the system has no free process
        id or memory."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "appliance.runtime.supervision.launch", str(os.getpid()), name],
            env=environment,
            stdin=subprocess.DEVNULL,
            pass_fds=fds,
            process_group=0,  # only the supervisor gets the terminal's Ctrl-C
        )
        self.pid = self._process.pid
        try:
            self.fd = os.pidfd_open(self.pid)  # for poll(2)
        except OSError:
            self.fd = -1  # out of descriptors: its end is seen at the next `poll`

    def poll(self) -> int | None:
        """Its exit code, or None while it runs. When it has ended, its descendants are killed
        before it is reaped: until then no other process group can have its id."""
        if self._process.returncode is not None:
            return self._process.returncode
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return self._process.poll()
        if ended is None:
            return None
        self.kill()
        return self._process.poll()

    def terminate(self) -> None:
        """Send SIGTERM, and SIGCONT in case it is stopped."""
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to it and its descendants. A process blocked in the kernel may remain."""
        if self._process.returncode is None:
            self._process.kill()  # it may not have created its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the descriptor."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def how_it_ended(code: int) -> str:
    """An exit code of `Child.poll` in words; negative codes are signals."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:  # of the real-time signals only the first and the last have a name
        return f"was ended by signal {-code}"
