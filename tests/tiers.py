"""A pytest plugin: the tests that start programs are marked `process`; no other starts one.

`pytest -m "not process"` is the pure tier: code and data in one process. A test that starts a
program without the mark fails and names the line to add. A test that starts none, and keeps a
processor for a third of a second and more, as seconds of sound through a canceller do, is marked
`long`: it is not in the pure tier either, so that this is over in a minute.
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
# espeak-ng makes samples of a text and ends, as a function would; who needs speech of a kind asks
# it once. What libraries only try is started once in a new environment, by whichever test is first.
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
        """How many since the last time."""
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


@pytest.hookimpl(tryfirst=True)  # the option -m is applied by another of these
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait for programs come first, so that of two workers neither has them left."""
    items.sort(key=lambda item: item.get_closest_marker(MARK) is None)
    for item in items:
        if item.get_closest_marker(LONG):
            item.add_marker(getattr(pytest.mark, MARK)(starts=False))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[_STARTS].pop()  # what the import of a file has started


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
