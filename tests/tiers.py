"""A pytest plugin: only tests with the mark `process` may start programs.

`pytest -m "not process"` is the pure tier: code and data in one process. A test that starts a
program without the mark fails with the line to add. A test that starts none but computes for a
third of a second or more, such as seconds of sound through an echo canceller, has the mark `long`.
It is not in the pure tier either, so that this tier ends within a minute.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.programs import TRIED

MARK, LONG = "process", "long"
STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.system"})
# espeak-ng turns a text into samples and exits, like a function; each kind of speech is requested
# once. Programs that libraries only try are started once per environment, by any first test.
AS_FUNCTIONS = frozenset({"espeak-ng", *TRIED})


class Starts:
    """Counts the programs that this process has started."""

    def __init__(self) -> None:
        self.count = 0

    def notice(self, event: str, args: tuple[Any, ...]) -> None:
        """An audit hook (PEP 578)."""
        if event in STARTS and not (args and Path(os.fsdecode(args[0])).name in AS_FUNCTIONS):
            self.count += 1

    def pop(self) -> int:
        """The number of starts since the last call."""
        count, self.count = self.count, 0
        return count


_STARTS = pytest.StashKey[Starts]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}: starts programs: parts of the box, tools, servers")
    config.addinivalue_line("markers", f"{LONG}: starts none and computes for long; no pure tier")
    starts = Starts()
    config.stash[_STARTS] = starts
    sys.addaudithook(starts.notice)


def unmarked(count: int, *, marked: bool) -> str:
    """What is wrong with a test that started `count` programs; '' if nothing is."""
    if not count or marked:
        return ""
    return (
        f"started {count} program(s) without the mark: pytestmark = pytest.mark.{MARK} at the top"
        f" of its file, or @pytest.mark.{MARK} above it (tests/tiers.py)."
    )


@pytest.hookimpl(tryfirst=True)  # before the hook that applies the option -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that wait for programs first, so that no worker is left with them at the end."""
    items.sort(key=lambda item: item.get_closest_marker(MARK) is None)
    for item in items:
        if item.get_closest_marker(LONG):
            item.add_marker(getattr(pytest.mark, MARK)(starts=False))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[_STARTS].pop()  # starts during the import of a test file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marked = any(mark.kwargs.get("starts", True) for mark in item.iter_markers(MARK))
    problem = unmarked(item.config.stash[_STARTS].pop(), marked=marked)
    if problem and not report.failed:
        report.outcome, report.longrepr = "failed", problem
    return report
