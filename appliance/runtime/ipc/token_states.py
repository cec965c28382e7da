"""Slots of the ring `states`: what the language model made of one token that it said.

In, from the thinker: rows of floats. Out, for the speaker's head: the same, bit for bit. A ring's
samples are 16 bits wide, so a number takes the place of two. Nothing in it is text.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from appliance.runtime.ipc.ring import END, START, RingSlot, RingWriter
from appliance.runtime.ipc.state_size import SAMPLES

States = npt.NDArray[np.float32]  # [rows, width]: the token's embedding, then the layers


class TokenSlot(NamedTuple):
    """`serial`: of the token; it rises, with gaps. `run`: tokens of one run follow each other in
    one answer. `states` is None where the run is over."""

    serial: int
    run: int
    first: bool
    states: States | None


class StateWriter(Protocol):
    """Takes the states of tokens."""

    def store(self, serial: int, run: int, states: States, *, first: bool) -> None: ...
    def end(self, serial: int, run: int) -> None: ...


class RingStates:
    """A StateWriter that writes the ring. A model whose states do not fit is refused by
    `fits`."""

    def __init__(self, ring: RingWriter) -> None:
        self._ring = ring

    @staticmethod
    def fits(rows: int, width: int) -> bool:
        return rows * width * 2 <= SAMPLES

    def store(self, serial: int, run: int, states: States, *, first: bool) -> None:
        """One token's."""
        samples = np.ascontiguousarray(states, np.float32).reshape(-1).view(np.int16)
        flags = START if first else 0
        rows = len(states)
        self._ring.write(samples, position=serial, stream=run, index=rows, flags=flags)

    def end(self, serial: int, run: int) -> None:
        """No token of `run` follows behind `serial`."""
        nothing = np.empty(0, np.int16)
        self._ring.write(nothing, position=serial, stream=run, flags=END)


def token_slot(slot: RingSlot) -> TokenSlot:
    """What a slot of the ring says."""
    if slot.flags & END:
        return TokenSlot(slot.position, slot.stream, first=False, states=None)
    states = slot.samples.view(np.float32).reshape(slot.index, -1)
    return TokenSlot(slot.position, slot.stream, bool(slot.flags & START), states)
