"""Slots of the ring `states`: the language model's hidden states of one sampled token.

In, from the thinker: rows of float32. Out, for the speaker's head: the same, bit for bit. A ring's
samples have 16 bits, so that a number takes the place of two. A slot contains no text.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from appliance.runtime.ipc.ring import END, START, RingSlot, RingWriter
from appliance.runtime.ipc.state_size import SAMPLES

States = npt.NDArray[np.float32]  # [rows, width]: the token's embedding, then the layers


class TokenSlot(NamedTuple):
    """One token. `serial` increases from token to token, with gaps. `run`: number of a sequence of
    tokens of one answer. `states` is None at the end of the run."""

    serial: int
    run: int
    first: bool
    states: States | None


class StateWriter(Protocol):
    """Receives the states of tokens."""

    def store(self, serial: int, run: int, states: States, *, first: bool) -> None: ...
    def end(self, serial: int, run: int) -> None: ...


class RingStates:
    """A StateWriter that writes to the ring. `fits` tells whether a model's states fit in a
    slot."""

    def __init__(self, ring: RingWriter) -> None:
        self._ring = ring

    @staticmethod
    def fits(rows: int, width: int) -> bool:
        return rows * width * 2 <= SAMPLES

    def store(self, serial: int, run: int, states: States, *, first: bool) -> None:
        """Write the states of one token."""
        samples = np.ascontiguousarray(states, np.float32).reshape(-1).view(np.int16)
        flags = START if first else 0
        rows = len(states)
        self._ring.write(samples, position=serial, stream=run, index=rows, flags=flags)

    def end(self, serial: int, run: int) -> None:
        """Write the end of `run`, whose last token is `serial`."""
        nothing = np.empty(0, np.int16)
        self._ring.write(nothing, position=serial, stream=run, flags=END)


def token_slot(slot: RingSlot) -> TokenSlot:
    """Decode a slot of the ring."""
    if slot.flags & END:
        return TokenSlot(slot.position, slot.stream, first=False, states=None)
    states = slot.samples.view(np.float32).reshape(slot.index, -1)
    return TokenSlot(slot.position, slot.stream, bool(slot.flags & START), states)
