"""llama.cpp's evaluation callback: counts progress and can end an evaluation.

Pure. Before each operation of a graph llama.cpp calls it with `ask` set, to learn whether the
callback wants the result. It computes up to an operation for which the callback returned True, and
calls again without `ask`; False then ends the graph (`ggml_backend_sched_eval_callback`).
llama.cpp reports such an end as success.
"""

from __future__ import annotations

from collections.abc import Callable

# Operations between two checks. The encoder has some 1,400 for a clip, and the longest take 1.4 %
# of the time each. A check restarts all threads; for 1 s of sound the cost was not measurable at
# 1, 8 and 16 operations.
STRIDE = 2


class ComputeCallback:
    """One callback. `steps` counts its checks; `stopped`: it ended the last graph."""

    def __init__(self, should_stop: Callable[[], bool], stride: int = STRIDE) -> None:
        self._should_stop = should_stop
        self._stride = stride
        self._operations = 0
        self.steps = 0
        self.stopped = False

    def start_graph(self) -> None:
        """Reset the callback; call before each graph."""
        self._operations = 0
        self.stopped = False

    def __call__(self, tensor: object, ask: bool, data: object) -> bool:
        if ask:
            self._operations += 1
            return self._operations % self._stride == 0
        self.steps += 1
        self.stopped = self._should_stop()
        return not self.stopped
