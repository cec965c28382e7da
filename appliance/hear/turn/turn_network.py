"""Runs smart-turn, the network that tells whether a turn is over. The only file that does.

In: the newest 8 s of the owner's speech with the silence after it. Out: a probability. The network
is Pipecat's smart-turn v3.2 with an additional output layer that we trained; its card is
`models/smart_turn.md`.
"""

from __future__ import annotations

from pathlib import Path

from appliance.errors import ModelError
from appliance.hear.turn.log_mel import BANDS, ROWS, log_mel
from appliance.onnx_session import open_session
from appliance.pcm import Samples

MODEL = Path(__file__).parents[2] / "models" / "smart_turn.onnx"
_INPUT, _OUTPUT = "input_features", "over"


class TurnNetwork:
    """The network on one thread; a question takes about 60 ms of one x86-64 core."""

    def __init__(self, model: Path = MODEL) -> None:
        """Raises ModelError for a file that is missing or is not this network."""
        self._session = open_session(model, "the network that judges the end of a turn")
        inputs = [(node.name, tuple(node.shape[1:])) for node in self._session.get_inputs()]
        outputs = [node.name for node in self._session.get_outputs()]
        if inputs != [(_INPUT, (BANDS, ROWS))] or _OUTPUT not in outputs:
            raise ModelError(f"{model}: is a network, but not that of the end of a turn.")

    def probability(self, samples: Samples) -> float:
        """The probability that a turn which ends with int16 `samples` (16 kHz) is over."""
        [[[probability]]] = self._session.run([_OUTPUT], {_INPUT: log_mel(samples)[None]})
        return float(probability)
