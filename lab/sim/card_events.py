"""Events in the log of the software sound card, with their sample indices."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class StreamDirection(enum.StrEnum):
    """Playback or capture."""

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
)  # numbered from 1 in the log


@dataclass(frozen=True)
class CardEvent:
    """One entry of the card's log.

    `index`: of a start or resume, the first frame; of a stop, pause or xrun, the first frame that
    was not played or delivered. `frames`: the number queued to the loudspeaker then; of an xrun,
    the number that passed until it was detected. `serial` counts from 1; `time_ns` is
    CLOCK_MONOTONIC.
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
    """Convert a log record in shared memory (card_memory_layout.py)."""
    return CardEvent(
        serial=serial,
        time_ns=int(record["time_ns"]),
        stream=_STREAMS[record["stream"]],
        kind=_KINDS[record["kind"] - 1],
        index=int(record["index"]),
        frames=int(record["frames"]),
    )
