"""Turns SIGTERM and Ctrl-C into exceptions, so that a command undoes what it has begun.

In: the code that runs. Out: SystemExit or KeyboardInterrupt in it. msgspec 0.22 crashes if one is
raised while it reads the annotations of a class, which it does once for each, so the signal then
comes again a moment later.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATED = 128 + signal.SIGTERM  # a shell's exit code for a program that a signal ended
_AGAIN_S = 0.02
_MSGSPEC = f"{os.sep}msgspec{os.sep}"


@contextmanager
def raised() -> Iterator[None]:
    """Raise SystemExit with `TERMINATED` on SIGTERM, and KeyboardInterrupt on Ctrl-C. For the main
    thread; the handlers are afterwards as before."""
    before = {number: signal.signal(number, _raise) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, frame: FrameType | None) -> None:
    if _within_msgspec(frame):
        threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number)).start()
    elif number == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        sys.exit(TERMINATED)


def _within_msgspec(frame: FrameType | None) -> bool:
    while frame is not None:
        if _MSGSPEC in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
