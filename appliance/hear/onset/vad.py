"""Speech probability: Silero VAD in ONNX.

In: blocks of sound. Out: a probability every 16 ms, from two networks half a window apart.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from appliance.errors import ModelError
from appliance.onnx_session import open_session
from appliance.pcm import Samples

MODEL = Path(__file__).parents[2] / "models" / "silero_vad.onnx"
WINDOW_FRAMES = 512  # input of the network, at 16 kHz
CONTEXT_FRAMES = 64  # end of the previous window, which the network gets before the new one
HOP_FRAMES = 256  # two interleaved networks: 29 ms median to onset against 36 ms with one
_SILENT_HOPS = 625  # after 10 s without speech the state is reset; old state delays the next onset
_SILENT_BELOW = 0.1
_RATE = np.array(16_000, np.int64)
# Without them the graph asks at each run which shape its input has: a fifth of the time of a run,
# and half of that of the opening.
_SIZES = {"batch": 1, "sequence": CONTEXT_FRAMES + WINDOW_FRAMES}


class VoiceActivityDetector:
    """Takes sound in blocks of any size up to a hop and returns a probability at each hop."""

    def __init__(self, model: Path = MODEL) -> None:
        """Raises ModelError for a file that is missing or is not Silero's network."""
        self._session = _open(model)
        self._window = np.zeros((1, CONTEXT_FRAMES + WINDOW_FRAMES), np.float32)
        self._pending = np.zeros(HOP_FRAMES, np.float32)
        self._zero_state = np.zeros((2, 1, 128), np.float32)
        self.reset()

    def reset(self) -> None:
        """Forget all sound so far."""
        self._states = [self._zero_state, self._zero_state]
        self._window[:] = 0.0
        self._filled = 0
        self._network = 0
        self._silent_hops = 0

    def process(self, samples: Samples, calm: bool = False) -> float | None:
        """The probability of speech in the 32 ms up to this hop's end, or None between hops.
        `calm`: there was only room noise for a while; return 0 without running the networks."""
        missing = HOP_FRAMES - self._filled
        head = samples[:missing]
        self._pending[self._filled : self._filled + len(head)] = head
        self._filled += len(head)
        if self._filled < HOP_FRAMES:
            return None
        probability = self._hop(calm)
        rest = samples[missing:]
        self._pending[: len(rest)] = rest
        self._filled = len(rest)
        return probability

    def _hop(self, calm: bool) -> float:
        window = self._window
        window[0, :-HOP_FRAMES] = window[0, HOP_FRAMES:]
        np.multiply(self._pending, 1 / 32768, out=window[0, -HOP_FRAMES:])
        self._network ^= 1
        if calm:
            return 0.0
        output, state = self._session.run(
            None, {"input": window, "state": self._states[self._network], "sr": _RATE}
        )
        self._states[self._network] = state
        probability = float(output[0, 0])
        self._silent_hops = 0 if probability > _SILENT_BELOW else self._silent_hops + 1
        if self._silent_hops == _SILENT_HOPS:
            self._states = [self._zero_state, self._zero_state]
            self._silent_hops = 0
        return probability


@functools.cache
def _open(model: Path) -> Any:
    """The session, one per process: it has no state of its own, and an enrolment creates a pipeline
    for each recording."""
    session = open_session(model, "the speech detector", sizes=_SIZES)
    if [i.name for i in session.get_inputs()][:2] != ["input", "state"]:
        raise ModelError(f"{model}: is a network, but not Silero's speech detector for 16 kHz.")
    return session
