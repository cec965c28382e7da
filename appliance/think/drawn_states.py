"""Passes the hidden states of an answer's tokens to the voice that speaks them.

In: each token when it is sampled, and again when the model has evaluated it. Out: its states, under
a serial that its text carries, too. Tokens of a tool call or a thought are not spoken: they end a
run, and the next text token starts a new one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from appliance.runtime.ipc.token_states import StateWriter
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall

log = logging.getLogger("thinker")
Piece = str | ToolCall | BadToolCall


class Tap(Protocol):
    """The methods of StateTap that are used here."""

    def switch_on(self) -> None: ...
    def switch_off(self) -> None: ...
    def read(self, tokens: int = 1) -> npt.NDArray[np.float32]: ...


class DrawnText(str):
    """Text of an answer, with the serial of the token that completed it."""

    __slots__ = ("serial",)
    serial: int

    def __new__(cls, text: str, serial: int) -> DrawnText:
        made = super().__new__(cls, text)
        made.serial = serial
        return made


class DrawnStates:
    """Writes the states of one answer after another. Serials are unique and rise, also across
    restarts of the thinker: they are microseconds of the monotonic clock."""

    def __init__(self, tap: Tap, write: StateWriter) -> None:
        self._tap = tap
        self._write = write
        self._serial = time.monotonic_ns() // 1000
        self._run = 0  # serial of the run's first token; 0: no run is open
        self._first = self._stores = False

    def begin(self) -> None:
        """Switch the tap on; call before the first token of an answer."""
        self._tap.switch_on()

    def record_sampled(self, pieces: Iterable[Piece], *, special: bool) -> list[Piece]:
        """Record a sampled token and return the `pieces` that it completes, text as DrawnText.
        `special`: it is a special token and never text."""
        found = list(pieces)
        self._stores = any(isinstance(piece, str) and piece for piece in found)
        if special:
            self._end_run()
        if not self._stores:
            return found
        self._serial = max(self._serial + 1, time.monotonic_ns() // 1000)
        self._first = not self._run
        self._run = self._run or self._serial
        return [DrawnText(p, self._serial) if isinstance(p, str) else p for p in found]

    def record_evaluated(self) -> None:
        """Store the states of the token that was sampled last; call once it is evaluated."""
        if self._stores:
            (states,) = self._tap.read()
            self._write.store(self._serial, self._run, states, first=self._first)

    def end(self) -> None:
        """End the answer, complete or not. Call it before any other evaluation."""
        self._tap.switch_off()
        self._end_run()

    def _end_run(self) -> None:
        if self._run:
            self._write.end(self._serial, self._run)
        self._run = 0
