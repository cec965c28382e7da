"""A pytest plugin: ends a process of tests that is stuck in C.

A test that takes longer than its limit (`timeout` in pyproject.toml) fails by a signal, which Python
handles. Code in C that never returns to Python, of the model or a sound card, does not handle it. So
a thread of C prints where the process is, and ends it, STUCK_S after it was set; it is set anew every
AGAIN_S at most, because to set it takes a switch of threads. pytest's `faulthandler_timeout` sets it
for each test.
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
    """Sets the thread of C at the start of a test; `stderr` is a descriptor that no test replaces."""

    def __init__(self, stderr: int) -> None:
        self._stderr = stderr
        self._set_s = -math.inf

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        limit = item.get_closest_marker("timeout")
        if limit is not None and limit.args[0] > STUCK_S - AGAIN_S:  # a machine that is emulated
            self.pytest_sessionfinish()
        elif time.monotonic() - self._set_s > AGAIN_S:
            faulthandler.dump_traceback_later(STUCK_S, exit=True, file=self._stderr)
            self._set_s = time.monotonic()

    def pytest_sessionfinish(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._set_s = -math.inf


def pytest_configure(config: pytest.Config) -> None:
    capture = config.pluginmanager.get_plugin("capturemanager")
    with capture.global_and_fixture_disabled():
        config.pluginmanager.register(Watchdog(os.dup(2)), "stuck-watchdog")
