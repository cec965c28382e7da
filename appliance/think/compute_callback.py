"""llama.cpp's evaluation callback: reports progress, and ends an evaluation.

Pure. llama.cpp asks before each operation of a graph whether somebody wants to look at its
result (`ask`), computes up to one for which the answer was yes, and calls again; a no then ends
the graph (`ggml_backend_sched_eval_callback`). It reports such an end as success.
"""

from __future__ import annotations

from collections.abc import Callable

# Operations between two looks. The encoder has some 1,400 for a clip, the longest of which take
# 1.4 % of the time each; a look costs a start of all threads (not to be seen in the time of 1 s
# of sound, measured at 1, 8 and 16 operations).
STRIDE = 2


class ComputeCallback:
    """One callback. `steps` counts the looks; `stopped`: the last graph was ended by one."""

    def __init__(self, wanted_no_more: Callable[[], bool], stride: int = STRIDE) -> None:
        self._wanted_no_more = wanted_no_more
        self._stride = stride
        self._asked = 0
        self.steps = 0
        self.stopped = False

    def start_graph(self) -> None:
        """Before each graph."""
        self._asked = 0
        self.stopped = False

    def __call__(self, tensor: object, ask: bool, data: object) -> bool:
        if ask:
            self._asked += 1
            return self._asked % self._stride == 0
        self.steps += 1
        self.stopped = self._wanted_no_more()
        return not self.stopped
