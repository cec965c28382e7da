"""The box that a release is tried on: its service, its clock, its user. systemd's tools only."""

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
from appliance.runtime import status
from appliance.update.health_check import Activity, HealthReading

UNIT = "interlude.service"
USER = "interlude"
TRY_OUT_S = 120.0  # importing everything from a cold SD card
EMULATED_S = 1800.0  # likewise, on a busy machine that makes a card; an idle one takes a minute
_ACTIVITY: dict[str, Activity] = {
    "active": "active",
    "reloading": "active",
    "activating": "starting",
    "failed": "failed",
}


class InstallTarget(Protocol):
    """What an installation asks of the box."""

    def read_health(self) -> HealthReading: ...
    def restart(self) -> None: ...
    def run_selftest(self, release: Path) -> None: ...
    def clock_s(self) -> float: ...
    def now_s(self) -> float: ...
    def wait(self, seconds: float) -> None: ...


class SystemdTarget:
    """The real one. `selftest_s`: the longest that a release may look at itself."""

    def __init__(
        self,
        runtime: Path = status.FOLDER,
        systemctl: str = "systemctl",
        selftest_s: float = TRY_OUT_S,
    ) -> None:
        self._runtime = runtime
        self._systemctl = systemctl
        self._selftest_s = selftest_s

    def read_health(self) -> HealthReading:
        """How it is now. Raises StorageError if systemd cannot be asked."""
        asked = "ActiveState,MainPID,NRestarts"
        shown = self._systemd("show", UNIT, f"--property={asked}")
        said = dict(re.findall(r"^(\w+)=(.*)$", shown, re.MULTILINE))
        activity = _ACTIVITY.get(said.get("ActiveState", ""), "stopped")
        told = status.read_status(self._runtime)
        if told is not None and str(told.pid) != said.get("MainPID"):
            told = None  # what an earlier one left
        return HealthReading(activity, int(said.get("NRestarts") or 0), told)

    def restart(self) -> None:
        """Ask for a start of whatever `start` chooses, after any number of failures."""
        self._systemd("reset-failed", UNIT)
        self._systemd("restart", "--no-block", UNIT)

    def run_selftest(self, release: Path) -> None:
        """Let a release look at itself, as the user it will run as. Raises ReleaseRefused."""
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
            raise ReleaseRefused(problem, shown=ShownAs.of("page-wrong-self-test")) from error
        except OSError as error:
            raise ReleaseRefused(f"Its self-test cannot be started ({error.strerror}).") from error
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            why = lines[-1] if lines else f"exit code {done.returncode}"
            problem = f"Its self-test failed: {why}"
            raise ReleaseRefused(problem, shown=ShownAs.of("page-wrong-self-test"))

    def clock_s(self) -> float:
        """On the wall, since 1970."""
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
        if done.returncode and words[0] != "reset-failed":  # of a unit that is not loaded: no harm
            said = done.stderr.strip() or f"exit code {done.returncode}"
            raise StorageError(f"systemctl {' '.join(words)}: {said}.", "Are you root?")
        return done.stdout


def selftest_environment(own: Mapping[str, str], home: str) -> dict[str, str]:
    """Of a release that looks at itself. `home`: of the box's user; "" where it runs as who asks.

    As its unit runs it: root's own settings are not the box's, and what only a service has, the
    page, is looked at, too.
    """
    kept = {key: value for key, value in own.items() if key[:4] != "XDG_"}
    return kept | ({"HOME": home, "STATE_DIRECTORY": home} if home else {})


def _home(user: str) -> str:
    """The home of that user; "" if there is no such user."""
    try:
        return pwd.getpwnam(user).pw_dir
    except KeyError:
        return ""
