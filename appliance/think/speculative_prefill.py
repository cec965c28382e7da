"""Speculative prefill: when to read speech that is still being said.

Pure. In: how much of the utterance has come. Out: whether to have the model read it now. What is
left to read at the last word, the piece that is being read included, is least if the model reads
on as soon as it has done a piece: on a slow machine pieces become longer by themselves. While
nobody speaks no piece is begun: what may be the end follows at once, and would wait for it.
"""

from __future__ import annotations

from appliance.pcm import RATE_HZ

HOP_FRAMES = RATE_HZ * 4 // 25  # 4 tokens, which the model computes together (context.py)


class SpeculativePrefill:
    """One utterance at a time."""

    def __init__(self) -> None:
        self._utterance = -1
        self._frames = 0

    def due(self, utterance: int, frames: int, *, paused: bool, quiet: bool, idle: bool) -> bool:
        """Whether to read `utterance` now, of which `frames` samples have come.

        `paused`: these may have been the last words, and nothing is saved by waiting; `quiet`:
        nobody speaks just now; `idle`: the model has nothing else to do.
        """
        if utterance != self._utterance:
            self._utterance, self._frames = utterance, 0
        new = frames - self._frames
        if new <= 0 or not (paused or (idle and not quiet and new >= HOP_FRAMES)):
            return False
        self._frames = frames
        return True
