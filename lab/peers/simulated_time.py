"""An asyncio loop whose clock is moved by the sound, and the clocks of `time` that follow it.

In: callbacks, timers, and the time up to which to run them. Out: all that was due by then has run.
Work in executors takes no simulated time.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any

BEGAN_S = 1000.0  # the loop's time at sample 0: programs take a time of 0 for "never"
EPOCH_S = 1_700_000_000.0  # the time of day at the loop's time 0
ROUNDING_S = 1e-9  # a timer at the very end is still due
CLOCKS = ("time", "monotonic", "perf_counter")


class _ClockSelector(selectors.DefaultSelector):
    """Moves the loop's clock to the next timer in place of waiting for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = BEGAN_S
        self.until_s = BEGAN_S
        self.stop: Callable[[], None] | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What asyncio asks once an iteration: `timeout` is 0 if a callback is ready, else the time
        to the next timer, or None without timers."""
        found = super().select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        if timeout is not None and self.now_s + timeout <= self.until_s + ROUNDING_S:
            self.now_s += timeout
            return found
        self.now_s = self.until_s
        if self.stop is not None:
            self.stop()
        return found


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop in simulated time. It only runs inside `run_to`."""

    def __init__(self) -> None:
        self._clock = _ClockSelector()
        super().__init__(self._clock)
        self._clock.stop = self.stop

    def time(self) -> float:
        return self._clock.now_s

    def run_to(self, until_s: float) -> None:
        """Run all callbacks, tasks and timers that are due by `until_s`."""
        self._clock.until_s = max(until_s, self._clock.now_s)
        self.run_forever()

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a coroutine; it runs in the next `run_to`."""
        return self.create_task(coroutine)

    def run_in_executor(  # type: ignore[override]  # the result may be a future of this loop
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Call `func` here and now. A future as its result is awaited in its place, so that a
        simulated device can block its caller in simulated time."""
        future: asyncio.Future[Any] = self.create_future()
        try:
            result = func(*args)
        except Exception as error:  # noqa: BLE001  # it is raised where the future is awaited
            future.set_exception(error)
            return future
        if asyncio.isfuture(result):
            return result
        future.set_result(result)
        return future


def replace_clocks(loop: SimulatedLoop) -> None:
    """Make `time.time()` and its like tell the loop's time, for the rest of this process."""
    for name in CLOCKS:
        began_s = EPOCH_S if name == "time" else 0.0
        setattr(time, name, lambda began_s=began_s: began_s + loop.time())
        setattr(time, f"{name}_ns", lambda began_s=began_s: round((began_s + loop.time()) * 1e9))
