"""A pytest plugin: ends a process of tests that is stuck in C.

A test that takes longer than its limit (`timeout` in pyproject.toml) is failed by a signal, which
Python handles between two of its instructions: never, while code in C does not return. So a thread
in C (faulthandler's) prints where the process is and ends it, STUCK_S after it was set. It is set
again at most every AGAIN_S, since that waits for the old thread; pytest's `faulthandler_timeout`
sets it for each test.
"""

from __future__ import annotations

import faulthandler
import math
import os
import time

import pytest

STUCK_S = 1000  # above the limit of every test in tests/
AGAIN_S = 50


class Watchdog:
    """Sets the thread before a test. `stderr`: a descriptor that pytest does not capture."""

    def __init__(self, stderr: int) -> None:
        self._stderr = stderr
        self._set_s = -math.inf

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        limit = item.get_closest_marker("timeout")
        if limit is not None and limit.args[0] > STUCK_S - AGAIN_S:  # a machine that is emulated
            self._cancel()
        elif time.monotonic() - self._set_s > AGAIN_S:
            faulthandler.dump_traceback_later(STUCK_S, exit=True, file=self._stderr)
            self._set_s = time.monotonic()

    def pytest_sessionfinish(self) -> None:
        self._cancel()

    def _cancel(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._set_s = -math.inf


def pytest_configure(config: pytest.Config) -> None:
    capture = config.pluginmanager.get_plugin("capturemanager")
    assert capture is not None
    with capture.global_and_fixture_disabled():
        config.pluginmanager.register(Watchdog(os.dup(2)), "stuck-watchdog")
