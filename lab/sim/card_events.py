"""The software sound card's log: what happened to its streams, by sample index."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class StreamDirection(enum.StrEnum):
    """A direction of the card."""

    PLAYBACK = "playback"
    CAPTURE = "capture"


class CardEventKind(enum.StrEnum):
    """What happened to a stream."""

    START = "start"
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    XRUN = "xrun"


_STREAMS = (StreamDirection.PLAYBACK, StreamDirection.CAPTURE)
_KINDS = (
    CardEventKind.START,
    CardEventKind.STOP,
    CardEventKind.PAUSE,
    CardEventKind.RESUME,
    CardEventKind.XRUN,
)  # from 1 on


@dataclass(frozen=True)
class CardEvent:
    """One line of the card's log.

    `index` is the first frame of a start or resume, the first that was not played or delivered at a
    stop, pause or xrun. `frames` is how many were queued to the loudspeaker then; of an xrun, how
    many passed until it was noticed. `serial` counts from 1; `time_ns` is CLOCK_MONOTONIC.
    """

    serial: int
    time_ns: int
    stream: StreamDirection
    kind: CardEventKind
    index: int
    frames: int

    def __str__(self) -> str:
        return f"{self.stream} {self.kind} at {self.index} ({self.frames} frames)"


def read_event(record: Any, serial: int) -> CardEvent:
    """A line of the log from its record in shared memory (card_memory_layout.py)."""
    return CardEvent(
        serial=serial,
        time_ns=int(record["time_ns"]),
        stream=_STREAMS[record["stream"]],
        kind=_KINDS[record["kind"] - 1],
        index=int(record["index"]),
        frames=int(record["frames"]),
    )
