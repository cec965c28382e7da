"""The states of an answer's tokens, on their way to whoever speaks them.

In: each token when it is drawn, and again when it is read. Out: its states, under a number that
its text carries, too. Tokens of a call or a thought are never spoken: they end a run, and the next
token that is text begins another one.
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
    """The part of StateTap that is used here."""

    def switch_on(self) -> None: ...
    def switch_off(self) -> None: ...
    def read(self, tokens: int = 1) -> npt.NDArray[np.float32]: ...


class DrawnText(str):
    """Text of an answer, and the serial of the token with which it came."""

    __slots__ = ("serial",)
    serial: int

    def __new__(cls, text: str, serial: int) -> DrawnText:
        made = super().__new__(cls, text)
        made.serial = serial
        return made


class DrawnStates:
    """Of one answer after the other. Serials rise, also from one start of the thinker to the next:
    microseconds of the monotonic clock, and no two tokens take the same one."""

    def __init__(self, tap: Tap, write: StateWriter) -> None:
        self._tap = tap
        self._write = write
        self._serial = time.monotonic_ns() // 1000
        self._run = 0  # 0: none is open
        self._first = self._stores = False

    def begin(self) -> None:
        """An answer is drawn from now on."""
        self._tap.switch_on()

    def drew(self, pieces: Iterable[Piece], *, special: bool) -> list[Piece]:
        """A token, and what it completes: the same, its text with its serial. `special`: it is a
        mark, and never text."""
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

    def has_read(self) -> None:
        """The model has read the token that was drawn last."""
        if self._stores:
            (states,) = self._tap.read()
            self._write.store(self._serial, self._run, states, first=self._first)

    def end(self) -> None:
        """Nothing follows in this answer, be it whole or not. Before anything else is read."""
        self._tap.switch_off()
        self._end_run()

    def _end_run(self) -> None:
        if self._run:
            self._write.end(self._serial, self._run)
        self._run = 0
