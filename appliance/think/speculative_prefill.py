"""Speculative prefill: when to read speech that is still being said.

Pure. In: how much of the utterance has come. Out: whether to have the model read it now. What is
left to read at the last word, the piece that is being read included, is least with the shortest
pieces that the machine keeps up with: a piece costs some time however short it is.
"""

from __future__ import annotations

from appliance.pcm import RATE_HZ

HOP_FRAMES = RATE_HZ * 2 // 5  # 10 tokens: smaller pieces cost more than twice as much a token
# Of the time, at most, that goes into reading ahead. On full-size weights and two x86 cores 0.5
# made pieces of 1.4 s, of which 0.5 s of work were left at the last word; 0.8 makes them 0.4 s.
SHARE = 0.8


class SpeculativePrefill:
    """One utterance at a time. `cost_s` is told from outside: how long the last piece took."""

    def __init__(self) -> None:
        self.cost_s = 0.0
        self._utterance = -1
        self._frames = 0

    def due(self, utterance: int, frames: int, *, paused: bool, idle: bool) -> bool:
        """Whether to read `utterance` now, of which `frames` samples have come.

        `paused`: these may have been the last words, and nothing is saved by waiting; `idle`: the
        model has nothing else to do.
        """
        if utterance != self._utterance:
            self._utterance, self._frames = utterance, 0
        new = frames - self._frames
        hop = max(HOP_FRAMES, int(self.cost_s / SHARE * RATE_HZ))
        if new <= 0 or not (paused or (idle and new >= hop)):
            return False
        self._frames = frames
        return True
