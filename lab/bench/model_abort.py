"""Aborts encodings from another thread, as a new question does, and times the abort."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import SpeechClip

GOLDEN = 0.618034  # the fractional parts of its multiples fill 0 to 1 evenly
EARLIEST, LATEST = 0.02, 0.85  # of the time of a complete encoding
TRIES = 5  # per abort: encodings may end first if the complete one was timed on a busy machine
EVERY = 15  # aborts, after which a complete encoding is timed again


class Encodes(Protocol):
    """A language model or an encoder that encodes a clip and can be interrupted."""

    def encode_ahead(self, clip: SpeechClip) -> None: ...
    def interrupt(self) -> None: ...
    def resume(self) -> None: ...


def abort_shares(count: int) -> Iterator[float]:
    """The times of `count` aborts, as shares of a complete encoding, evenly spread."""
    for number in range(count):
        yield EARLIEST + (LATEST - EARLIEST) * (number * GOLDEN % 1)


def abort_times_ms(
    model: Encodes,
    next_clip: Callable[[], SpeechClip],
    encode_completely: Callable[[], float],
    count: int,
) -> Iterator[float]:
    """Yield the ms from an abort until the thread is free, `count` times; fewer if encodings end
    before their abort.

    `encode_completely` encodes a clip to its end, and returns the seconds.
    """
    complete_s = 0.0
    for number, share in enumerate(abort_shares(count)):
        if number % EVERY == 0:
            complete_s = encode_completely()
        for _ in range(TRIES):
            began_s = time.monotonic()
            took_ms = abort_time_ms(model, next_clip(), share * complete_s)
            if took_ms is not None:
                yield took_ms
                break
            complete_s = time.monotonic() - began_s  # it ended first: use this shorter time


def abort_time_ms(model: Encodes, clip: SpeechClip, after_s: float) -> float | None:
    """ms from an abort, `after_s` into the encoding of `clip`, until the encoding thread is free;
    None if the encoding ended before."""
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
