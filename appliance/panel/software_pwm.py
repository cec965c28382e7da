"""Software PWM: dims lines without PWM hardware, by switching each on and off in every period.

`plan` computes from the duty cycles when each line changes in a period (pure); a thread carries
that out. A line that is fully on or off is set once and needs no further work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

Lit = dict[int, bool]  # line → whether it is on


def plan(shares: Mapping[int, float], period_s: float) -> list[tuple[float, Lit]]:
    """One period: (seconds since its start, lines that change then). `shares`: 0 < share < 1."""
    if not shares:
        return []
    steps: dict[float, Lit] = {0.0: dict.fromkeys(shares, True)}
    for line, share in shares.items():
        steps.setdefault(share * period_s, {})[line] = False
    return sorted(steps.items())


class SoftwarePwm:
    """Dims lines. `write` sets one line; it is called under a lock, so that the thread does not
    change a line that was set fully on or off."""

    def __init__(self, write: Callable[[int, bool], None], rate_hz: float) -> None:
        self._write = write
        self._period_s = 1.0 / rate_hz
        self._shares: dict[int, float] = {}
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None
        self._closing = False

    def set(self, line: int, share: float) -> None:
        """Set a line's duty cycle, 0 to 1."""
        with self._lock:
            if 0.0 < share < 1.0:
                self._shares[line] = share
            else:
                self._shares.pop(line, None)
                self._write(line, share >= 1.0)
        self._changed.set()
        if self._shares and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="software-pwm", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closing = True
        self._changed.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        steps: list[tuple[float, Lit]] = []
        begin_s = time.monotonic()
        while not self._closing:
            if self._changed.is_set():
                self._changed.clear()
                with self._lock:
                    steps = plan(self._shares, self._period_s)
            if not steps:
                self._changed.wait()
                begin_s = time.monotonic()
                continue
            self._period(steps, begin_s)
            begin_s = max(begin_s + self._period_s, time.monotonic() - self._period_s)

    def _period(self, steps: list[tuple[float, Lit]], begin_s: float) -> None:
        """Run one period from `begin_s` on, or at once if that is past."""
        for after_s, lit in steps:
            wait_s = begin_s + after_s - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
            with self._lock:
                for line, on in lit.items():
                    if line in self._shares:
                        self._write(line, on)
