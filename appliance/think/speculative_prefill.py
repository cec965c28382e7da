"""Speculative prefill: decides when to prefill speech that the owner is still speaking.

Pure. In: how much of the utterance has arrived. Out: whether to prefill it now. The work left at
the last word, including the running piece, is smallest if the model starts the next piece as soon
as it has finished one; on a slow machine the pieces become longer by themselves. No piece starts
in silence: the possible end of the question follows at once and would have to wait for it.
"""

from __future__ import annotations

from appliance.pcm import RATE_HZ

HOP_FRAMES = RATE_HZ * 4 // 25  # 4 tokens, which llama.cpp computes as a group (context.py)


class SpeculativePrefill:
    """Decides for one utterance at a time."""

    def __init__(self) -> None:
        self._utterance = -1
        self._frames = 0

    def due(self, utterance: int, frames: int, *, paused: bool, quiet: bool, idle: bool) -> bool:
        """Whether to prefill `utterance` now, of which `frames` samples have arrived.

        `paused`: the question may be complete, so waiting saves nothing; `quiet`: there is no
        speech at the moment; `idle`: the model has nothing else to do.
        """
        if utterance != self._utterance:
            self._utterance, self._frames = utterance, 0
        new = frames - self._frames
        if new <= 0 or not (paused or (idle and not quiet and new >= HOP_FRAMES)):
            return False
        self._frames = frames
        return True
