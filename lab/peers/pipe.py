"""The protocol between the simulated room and a program in it: one block of 5 ms at a time.

    start    a line of JSON (`Start`), then the answer's sound
    request  "B" and 80 samples of the microphone, or "W" and a line of JSON (`Words`), not answered
    answer   to "B": the next 80 samples of the loudspeaker, whether an answer is audible, the
             number of events, and the events

The first answer comes at once, before any request. Integers are little-endian.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from appliance.sound_format import BLOCK_FRAMES

Samples = npt.NDArray[np.int16]
BLOCK, WORDS = b"B", b"W"
BLOCK_BYTES = 2 * BLOCK_FRAMES
# What a program did: decided to stop; lost the answer; went on with the same one; is silent.
KINDS = ("stopped", "dropped", "resumed", "silent")
_HEAD = struct.Struct("<?H")  # whether an answer is audible, number of events
_EVENT = struct.Struct("<qB")  # sample, index in KINDS


class PipeClosed(Exception):
    """The other end has ended."""


@dataclass(frozen=True)
class Start:
    """How a program is set up.

    program   name of its module's row in `lab.peers.program`
    options   settings that differ from the program's own defaults
    asked     sample from which the first answer is played
    frames    length of the answer's sound, which is looped
    """

    program: str
    options: dict[str, float]
    asked: int
    frames: int


@dataclass(frozen=True)
class Words:
    """The words of a sound between two samples, as a recogniser would write them down."""

    text: str
    first: int
    last: int


class Event(NamedTuple):
    """What a program did at a sample."""

    at: int
    kind: str


class Answer(NamedTuple):
    """One answer: int16[80] of the loudspeaker, whether it is of an answer, and the events."""

    samples: Samples
    audible: bool
    events: tuple[Event, ...]


def write_start(pipe: IO[bytes], start: Start, talk: Samples) -> None:
    """`talk`: int16[start.frames]."""
    pipe.write(json.dumps(asdict(start)).encode() + b"\n" + talk.astype("<i2").tobytes())
    pipe.flush()


def read_start(pipe: IO[bytes]) -> tuple[Start, Samples]:
    """Raises PipeClosed."""
    start = Start(**json.loads(_line(pipe)))
    return start, _samples(_exactly(pipe, 2 * start.frames))


def write_block(pipe: IO[bytes], mic: Samples) -> None:
    """`mic`: int16[80]."""
    pipe.write(BLOCK + mic.astype("<i2").tobytes())
    pipe.flush()


def write_words(pipe: IO[bytes], words: Words) -> None:
    pipe.write(WORDS + json.dumps(asdict(words)).encode() + b"\n")


def read_request(pipe: IO[bytes]) -> Samples | Words:
    """The next request. Raises PipeClosed at the end, ValueError for another kind of request."""
    kind = _exactly(pipe, 1)
    if kind == BLOCK:
        return _samples(_exactly(pipe, BLOCK_BYTES))
    if kind == WORDS:
        return Words(**json.loads(_line(pipe)))
    raise ValueError(f"{kind!r} is no request.")


def write_answer(pipe: IO[bytes], answer: Answer) -> None:
    events = [_EVENT.pack(event.at, KINDS.index(event.kind)) for event in answer.events]
    head = _HEAD.pack(answer.audible, len(events))
    pipe.write(answer.samples.astype("<i2").tobytes() + head + b"".join(events))
    pipe.flush()


def read_answer(pipe: IO[bytes]) -> Answer:
    """Raises PipeClosed."""
    samples = _samples(_exactly(pipe, BLOCK_BYTES))
    audible, count = _HEAD.unpack(_exactly(pipe, _HEAD.size))
    packed = _exactly(pipe, count * _EVENT.size)
    events = tuple(Event(at, KINDS[kind]) for at, kind in _EVENT.iter_unpack(packed))
    return Answer(samples, audible, events)


def _samples(data: bytes) -> Samples:
    return np.frombuffer(data, "<i2").astype(np.int16)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size) if size else b""
    if len(data) < size:
        raise PipeClosed
    return data


def _line(pipe: IO[bytes]) -> bytes:
    line = pipe.readline()
    if not line.endswith(b"\n"):
        raise PipeClosed
    return line
