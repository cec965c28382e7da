"""Ending an encoding in its midst, by another thread, as a question does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from appliance.think.history import Clip
from appliance.think.model import Abandoned, Model

GOLDEN = 0.618034  # multiples of it, without their whole part, fill 0 to 1 evenly
EARLIEST, LATEST = 0.02, 0.85  # of the time that a whole encoding takes


def orders(whole_s: float, count: int) -> Iterator[float]:
    """When to give the order, in seconds after the beginning: all over the encoding."""
    for number in range(count):
        yield whole_s * (EARLIEST + (LATEST - EARLIEST) * (number * GOLDEN % 1))


def order_to_free_ms(model: Model, clip: Clip, after_s: float) -> float | None:
    """From the order, `after_s` into the encoding of `clip`, until the thread that encodes is free;
    None if it was done before."""
    ordered_ns: list[int] = []

    def order() -> None:
        ordered_ns.append(time.monotonic_ns())
        model.interrupt()

    timer = threading.Timer(after_s, order)
    timer.start()
    try:
        model.prepare(clip)
    except Abandoned:
        pass
    free_ns = time.monotonic_ns()
    timer.cancel()
    timer.join()
    model.resume()
    if not ordered_ns or ordered_ns[0] > free_ns:
        return None
    return (free_ns - ordered_ns[0]) / 1e6
