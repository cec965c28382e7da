"""Waits for a condition that another thread makes true, with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 20.0  # on a very busy machine


def until(true: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Wait until `true` returns true, polled every millisecond. Fails after `within_s`."""
    end_s = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end_s, "it never came"
        time.sleep(0.001)
