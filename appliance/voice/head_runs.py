"""Turns the ring's hidden states into frames of sound, and tracks the tokens of each run.

In: slots of the ring `states`. Out: frames, each with the serial of the token that sounds. No text
is involved. Frames are made as soon as their tokens have arrived, before a sentence asks for them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.pcm import Samples
from appliance.runtime.ipc.token_states import States, TokenSlot
from appliance.voice.head_check import FRAMES_A_TOKEN, SPARE_FRAMES

MOST_FRAMES = 1500  # limit of frames not yet asked for: two minutes; then the oldest are dropped


class Frame(Protocol):
    """80 ms of sound. `token`: index of the run's token that sounds."""

    @property
    def samples(self) -> Samples: ...
    @property
    def token(self) -> int: ...
    @property
    def codes(self) -> npt.NDArray[np.integer]: ...


class Stream(Protocol):
    """The synthesis of one run of tokens."""

    @property
    def over(self) -> bool: ...
    def push(self, states: States, embedding_rows: States) -> None: ...
    def end(self) -> None: ...
    def frame(self) -> Frame | None: ...


class Head(Protocol):
    """A head that is loaded."""

    @property
    def layers(self) -> int: ...
    @property
    def width(self) -> int: ...
    def begin(self) -> Stream: ...


class MadeFrame(NamedTuple):
    serial: int
    samples: Samples
    codes: tuple[int, ...]


@dataclass
class _Run:
    """Tokens of one answer. `serials`: of its tokens, in order. `ended`: no token follows.
    `problem`: why no more frames are made of it."""

    number: int
    stream: Stream
    serials: list[int] = field(default_factory=list)
    ended: bool = False
    frames: int = 0
    problem: str = ""


class Break(NamedTuple):
    """Not all frames of the tokens `first` to `last` were made."""

    first: int
    last: int
    problem: str


class HeadRuns:
    """The unfinished runs. `made`: frames, by rising serial. `done`: up to this serial no frame
    will follow. `newest`: the highest serial received."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._runs: deque[_Run] = deque()
        self._breaks: deque[Break] = deque(maxlen=16)
        self.made: deque[MadeFrame] = deque()
        self.done = self.newest = 0

    def add(self, slot: TokenSlot) -> None:
        """Add a token that the model has evaluated, or the end of a run."""
        self.newest = max(self.newest, slot.serial)
        run = self._runs[-1] if self._runs else None
        if run is not None and run.number != slot.run:
            self._end(run)  # the thinker that wrote it has ended
            run = None
        if slot.states is None:
            if run is not None:
                self._end(run)
            return
        if run is None:
            run = _Run(slot.run, self._head.begin())
            run.problem = "" if slot.first else "the first states of it are missing"
            self._runs.append(run)
        run.serials.append(slot.serial)
        if slot.states.shape != (self._head.layers + 1, self._head.width):
            run.problem = "the states are of another model"
        if not run.problem:
            run.stream.push(slot.states[None, 1:], slot.states[:1])

    def lose(self) -> None:
        """Note that slots were lost: the open run cannot be continued."""
        if self._runs and not self._runs[-1].ended:
            self._runs[-1].problem = "states were lost"

    def step(self) -> bool:
        """Make one frame. Returns whether one could be made."""
        while self._runs:
            run = self._runs[0]
            frame = None if run.problem else self._next_frame(run)
            if frame is not None:
                self._store_frame(run, frame)
                return True
            if not (run.problem or run.stream.over):
                return False
            if run.problem:
                self._breaks.append(Break(max(self.done + 1, run.serials[0]), run.serials[-1],
                                          run.problem))  # fmt: skip
            self.done = max(self.done, run.serials[-1])
            self._runs.popleft()
        return False

    def problem(self, first: int, end: int) -> str:
        """Why not all frames of these tokens were made; "" if they were, or still will be."""
        broken = (b.problem for b in self._breaks if b.first < end and b.last >= first)
        return next(broken, "")

    def drop_before(self, serial: int) -> None:
        """Drop frames and finished runs of tokens before `serial`. If a question goes on after its
        answer was generated ahead, that answer would delay the first word of the real one."""
        while self.made and self.made[0].serial < serial:
            self.made.popleft()
        while self._runs and self._runs[0].ended and self._runs[0].serials[-1] < serial:
            self.done = max(self.done, self._runs.popleft().serials[-1])

    def _next_frame(self, run: _Run) -> Frame | None:
        try:
            return run.stream.frame()
        except (ModelError, RuntimeError, ValueError) as error:  # the network's library raises them
            run.problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
            return None

    def _store_frame(self, run: _Run, frame: Frame) -> None:
        serial = run.serials[min(frame.token, len(run.serials) - 1)]
        self.done = max(self.done, serial - 1)
        codes = tuple(int(code) for code in frame.codes)
        self.made.append(MadeFrame(serial, frame.samples, codes))
        if len(self.made) > MOST_FRAMES:
            self.made.popleft()
        run.frames += 1
        if run.frames > FRAMES_A_TOKEN * len(run.serials) + SPARE_FRAMES:
            run.problem = "its sound does not end"

    def _end(self, run: _Run) -> None:
        if not run.ended:
            run.ended = True
            run.stream.end()
