"""One process that the supervisor started, and all that it has started: a process group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence


class Child:
    """Nothing here waits for the process."""

    def __init__(self, name: str, environment: Mapping[str, str], fds: Sequence[int]) -> None:
        """Start the process of the table's row `name`. Raises OSError when the system has no
        process or no memory for it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "appliance.runtime.supervision.launch", str(os.getpid()), name],
            env=environment,
            stdin=subprocess.DEVNULL,
            pass_fds=fds,
            process_group=0,  # Ctrl-C at the terminal is the supervisor's alone
        )
        self.pid = self._process.pid
        try:
            self.fd = os.pidfd_open(self.pid)  # for poll(2)
        except OSError:
            self.fd = -1  # no descriptor left: its end is then seen at the next look

    def poll(self) -> int | None:
        """Its exit code, or None while it runs. What it has started is killed when it has ended:
        before it is reaped, so that its process group cannot belong to anybody else."""
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
        """Ask it to end, even if it was stopped."""
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and all that it has started. It may take the kernel a while, or for ever."""
        if self._process.returncode is None:
            self._process.kill()  # it may not have its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Give the descriptor back."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def how_it_ended(code: int) -> str:
    """An exit code of `Child.poll` in words, whatever signal it stands for."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:  # of the real-time signals only the first and the last have a name
        return f"was ended by signal {-code}"
