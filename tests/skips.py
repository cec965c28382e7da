"""A pytest plugin: tests skip only for what no package provides; the last lines count them.

A row of LACKING is a reason to skip and the check whether it holds. A test that skips for another
reason, or although its reason does not hold, fails: what a package provides is a row of
scripts/tools.txt or of the lock files, and set-up installs it.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from appliance.runtime import landlock
from lab.bench.benches import BenchError
from lab.bench.peer_environment import PeerEnvironment

ROOT_RIGHTS = "needs root"
MOUNTS = "needs the right to mount"
SYSTEMD = "needs a machine that systemd has started, or root"
GPIO_SIM = "needs the kernel's gpio-sim, and the right to set it up"
RECORDINGS = "needs recordings of real words, which are not ours to give away"
TRAINING = "needs torch, of the extra `training`: gigabytes that the box never runs"
PEERS = "needs the programs of `bench peers`: 750 MB in an environment of their own"
CHECKOUT = "needs a git checkout"
NUMBERED = "needs an onnxruntime that numbers the machine; this build does not"

BROWSER = "needs Chromium as a package, which this system does not have"
LANDLOCK = "needs a kernel with Landlock, switched on"
LANDLOCK_SCOPES = "needs a newer version of the kernel's Landlock"
TRACING = "needs the right to trace a process of one's own"
WAITS = "needs a kernel that tells how long a process waited (CONFIG_SCHED_INFO)"

GPIO_SIM_FOLDER = Path("/sys/kernel/config/gpio-sim")
RECORDINGS_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "recordings"


def _has_no_browser() -> bool:
    """Ubuntu has Chromium only as a snap, which may not use the pipes of a test. On Debian and
    Raspberry Pi OS set-up installs it."""
    try:
        return platform.freedesktop_os_release().get("ID") != "debian"
    except OSError:  # it does not say what it is
        return True


def lacks_landlock() -> bool:
    try:
        landlock.abi()
    except OSError:
        return True
    return False


def lacks_peers() -> bool:
    try:
        PeerEnvironment().require()
    except BenchError:
        return True
    return False


def _always() -> bool:
    return True  # only an attempt shows it


# Reason → whether it holds on this machine.
LACKING: dict[str, Callable[[], bool]] = {
    ROOT_RIGHTS: lambda: os.geteuid() != 0,
    MOUNTS: _always,
    SYSTEMD: lambda: os.geteuid() != 0 and not Path("/run/systemd").exists(),
    GPIO_SIM: lambda: not os.access(GPIO_SIM_FOLDER, os.W_OK),
    RECORDINGS: lambda: not (RECORDINGS_FOLDER / "words").is_dir(),
    TRAINING: lambda: not all(map(importlib.util.find_spec, ("torch", "scipy", "sklearn", "gguf"))),
    PEERS: lacks_peers,
    CHECKOUT: lambda: not (Path(__file__).resolve().parents[1] / ".git").exists(),
    NUMBERED: _always,
    BROWSER: _has_no_browser,
    LANDLOCK: lacks_landlock,
    LANDLOCK_SCOPES: lambda: lacks_landlock() or landlock.abi() < 7,
    TRACING: _always,
    WAITS: lambda: not Path("/proc/self/schedstat").exists(),
}


def refused(reason: str) -> str:
    """Why a test may not skip for `reason`; '' if it may."""
    holds = LACKING.get(reason)
    if holds is None:
        return (
            f"skipped: {reason}. That is no row of LACKING in tests/skips.py: what a package can"
            " give is a row of scripts/tools.txt, and no reason to skip."
        )
    return "" if holds() else f"skipped: {reason}. But it is there."


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The reason that pytest reports for the skip."""
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")


def _judge(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and (why := refused(reason_of(report))):
        report.outcome, report.longrepr = "failed", why


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _judge(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _judge(report)
    return report


@pytest.hookimpl(
    wrapper=True, tryfirst=True
)  # wraps pytest's own summary, to print just before its last line
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    yield
    counted = Counter(reason_of(report) for report in terminalreporter.getreports("skipped"))
    for reason, count in counted.most_common():
        terminalreporter.write_line(f"skipped: {count:3} {reason}")
