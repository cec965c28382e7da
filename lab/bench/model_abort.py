"""Aborts an encoding from another thread, as a question does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import SpeechClip

GOLDEN = 0.618034  # multiples of it, without their whole part, fill 0 to 1 evenly
EARLIEST, LATEST = 0.02, 0.85  # of the time that a whole encoding takes
TRIES = 5  # of one order, on a machine that was busy when a whole encoding was timed
EVERY = 15  # orders a whole encoding is timed anew


class Encodes(Protocol):
    """Of a language model, or its encoder alone: what encodes a clip and is ended."""

    def encode_ahead(self, clip: SpeechClip) -> None: ...
    def interrupt(self) -> None: ...
    def resume(self) -> None: ...


def orders(count: int) -> Iterator[float]:
    """When to give the order, as a share of a whole encoding: all over it."""
    for number in range(count):
        yield EARLIEST + (LATEST - EARLIEST) * (number * GOLDEN % 1)


def ended_ms(
    model: Encodes,
    next_clip: Callable[[], SpeechClip],
    whole: Callable[[], float],
    count: int,
) -> Iterator[float]:
    """`count` times from an order until the thread is free; fewer where encodings end before it.

    `whole` encodes a clip to its end, and tells the seconds.
    """
    whole_s = 0.0
    for number, share in enumerate(orders(count)):
        if number % EVERY == 0:
            whole_s = whole()
        for _ in range(TRIES):
            began_s = time.monotonic()
            took_ms = order_to_free_ms(model, next_clip(), share * whole_s)
            if took_ms is not None:
                yield took_ms
                break
            whole_s = time.monotonic() - began_s  # it was quicker this time


def order_to_free_ms(model: Encodes, clip: SpeechClip, after_s: float) -> float | None:
    """From the order, `after_s` into the encoding of `clip`, until the thread that encodes is free;
    None if it was done before."""
    ordered_ns: list[int] = []

    def order() -> None:
        ordered_ns.append(time.monotonic_ns())
        model.interrupt()

    timer = threading.Timer(after_s, order)
    timer.start()
    try:
        model.encode_ahead(clip)
    except AnswerAbandoned:
        pass
    free_ns = time.monotonic_ns()
    timer.cancel()
    timer.join()
    model.resume()
    if not ordered_ns or ordered_ns[0] > free_ns:
        return None
    return (free_ns - ordered_ns[0]) / 1e6
