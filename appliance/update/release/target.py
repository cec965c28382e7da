"""The box on which a release is installed: its service, clock and user, by systemd's tools."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from appliance.errors import ReleaseRefused, ShownAs, StorageError
from appliance.runtime.status import parse_systemd_line
from appliance.update.health_check import Activity, HealthReading

UNIT = "interlude.service"
USER = "interlude"
TRY_OUT_S = 120.0  # importing everything from a cold SD card
EMULATED_S = 1800.0  # the same under emulation, on a busy build machine; an idle one takes a minute
CTRL_C = 130  # exit code of a command upon SIGINT: appliance/__main__.py
_ACTIVITY: dict[str, Activity] = {
    "active": "active",
    "reloading": "active",
    "activating": "starting",
    "failed": "failed",
}


class SelfTestInterrupted(ReleaseRefused):
    """The self-test gave no verdict: a signal ended it, or its time was over. A process of the
    box's user can cause either."""


class InstallTarget(Protocol):
    """The operations of the box that an installation needs."""

    def read_health(self) -> HealthReading: ...
    def restart(self) -> None: ...
    def run_selftest(self, release: Path) -> None: ...
    def clock_s(self) -> float: ...
    def now_s(self) -> float: ...
    def wait(self, seconds: float) -> None: ...


class SystemdTarget:
    """The box on which this process runs. `selftest_s`: timeout of a release's self-test."""

    def __init__(self, systemctl: str = "systemctl", selftest_s: float = TRY_OUT_S) -> None:
        self._systemctl = systemctl
        self._selftest_s = selftest_s

    def read_health(self) -> HealthReading:
        """The present state of the service, as systemd has it: no file that a part of the box can
        write, and no socket that a part can answer in the place of the supervisor. Raises
        StorageError if systemctl fails."""
        properties = "ActiveState,MainPID,NRestarts,StatusText"
        output = self._systemd("show", UNIT, f"--property={properties}")
        values = dict(re.findall(r"^(\w+)=(.*)$", output, re.MULTILINE))
        activity = _ACTIVITY.get(values.get("ActiveState", ""), "stopped")
        pid = int(values.get("MainPID") or 0)
        supervisor = parse_systemd_line(values.get("StatusText", ""), pid) if pid else None
        return HealthReading(activity, int(values.get("NRestarts") or 0), supervisor)

    def restart(self) -> None:
        """Restart the service, also after systemd's start limit; the program `start` chooses the
        release. Returns at once."""
        self._systemd("reset-failed", UNIT)
        self._systemd("restart", "--no-block", UNIT)

    def run_selftest(self, release: Path) -> None:
        """Run a release's self-test as the user of the service. Raises ReleaseRefused."""
        command = [str(release / "bin/interlude"), "release", "selftest"]
        user = USER if os.geteuid() == 0 and _home(USER) else None
        environment = selftest_environment(os.environ, _home(USER) if user else "")
        try:
            done = subprocess.run(
                command,
                user=user,
                group=user,
                extra_groups=[] if user else None,
                cwd="/",
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=self._selftest_s,
            )
        except subprocess.TimeoutExpired as error:
            limit = f"{self._selftest_s:g} s"
            problem = f"Its self-test did not end within {limit}."
            shown = ShownAs.of("page-wrong-self-test")
            raise SelfTestInterrupted(problem, shown=shown) from error
        except OSError as error:
            raise ReleaseRefused(f"Its self-test cannot be started ({error.strerror}).") from error
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            why = lines[-1] if lines else f"exit code {done.returncode}"
            interrupted = done.returncode < 0 or done.returncode == CTRL_C
            kind = SelfTestInterrupted if interrupted else ReleaseRefused
            raise kind(f"Its self-test failed: {why}", shown=ShownAs.of("page-wrong-self-test"))

    def clock_s(self) -> float:
        """Wall-clock time, in seconds since 1970."""
        return time.time()

    def now_s(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def _systemd(self, *words: str) -> str:
        try:
            done = subprocess.run(
                [self._systemctl, *words], capture_output=True, text=True, check=False, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StorageError(f"systemd cannot be asked ({error}).") from error
        if done.returncode and words[0] != "reset-failed":  # it fails for a unit that is not loaded
            message = done.stderr.strip() or f"exit code {done.returncode}"
            raise StorageError(f"systemctl {' '.join(words)}: {message}.", "Are you root?")
        return done.stdout


def selftest_environment(own: Mapping[str, str], home: str) -> dict[str, str]:
    """The environment of a self-test. `home`: of the service's user; "" if the self-test runs as
    the calling user.

    It is the unit's environment: without root's XDG folders, whose settings are not the box's, and
    with STATE_DIRECTORY, so that the self-test covers the page, which only the service has.
    """
    environment = {key: value for key, value in own.items() if key[:4] != "XDG_"}
    return environment | ({"HOME": home, "STATE_DIRECTORY": home} if home else {})


def _home(user: str) -> str:
    """The home folder of `user`; "" if there is no such user."""
    try:
        return pwd.getpwnam(user).pw_dir
    except KeyError:
        return ""
