"""A head made for tests: a linear graph, three frames per token, a tone for each state.

Run as a program it is the voice `head` with this graph in place of the shipped one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from appliance.errors import ModelError
from appliance.onnx_session import open_session
from appliance.pcm import Samples
from appliance.runtime.ipc.token_states import States
from appliance.voice import head_program

LAYERS, WIDTH, TONES = 6, 8, 8
RATE_HZ, FRAME = 16_000, 1280
FRAMES_A_TOKEN, LEAD_TOKENS = 3, 2
FILE, BROKEN = "tiny.onnx", 99.0  # a state of this value breaks the head
SILENT, STUCK = 50.0, 60.0  # states that give silence, or one frame repeatedly


def write(folder: Path, width: int = WIDTH) -> Path:
    """Write the weights: the mean of the layers times a table of tones. Returns the folder."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    time_s = np.arange(FRAME) / RATE_HZ
    tones = [0.3 * np.sin(2 * np.pi * (200 + 50 * k) * time_s) for k in range(TONES)]
    table = np.zeros((width, FRAME), np.float32)
    table[:TONES] = tones
    nodes = [
        helper.make_node("ReduceMean", ["states"], ["mean"], axes=[1], keepdims=0),
        helper.make_node("MatMul", ["mean", "table"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["samples"]),
    ]
    graph = helper.make_graph(
        nodes,
        "head",
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, [1, LAYERS, width])],
        [helper.make_tensor_value_info("samples", TensorProto.FLOAT, [1, FRAME])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / FILE)
    (folder / "width").write_text(str(width))
    return folder


class TinyFrame(NamedTuple):
    samples: Samples
    token: int
    codes: np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class TinyStream:
    def __init__(self, head: TinyHead) -> None:
        self._head = head
        self._states: list[States] = []
        self._made = 0
        self._ended = False

    @property
    def over(self) -> bool:
        return self._ended and self._made >= FRAMES_A_TOKEN * len(self._states)

    def push(self, states: States, embedding_rows: States) -> None:
        assert states.shape == (1, LAYERS, self._head.width)
        assert embedding_rows.shape == (1, self._head.width)
        self._states.append(states)

    def end(self) -> None:
        self._ended = True

    def frame(self) -> TinyFrame | None:
        token = self._made // FRAMES_A_TOKEN
        if token + (0 if self._ended else LEAD_TOKENS) >= len(self._states):
            return None
        states = self._states[token]
        value = float(states.max())
        if value == BROKEN:
            raise RuntimeError("no such sound")
        (sound,) = self._head.session.run(None, {"states": states})
        samples = np.rint(32767 * sound[0]).astype(np.int16)
        codes = np.array([self._made, token])
        if value == SILENT:
            samples, codes = np.zeros_like(samples), np.array([0, 0])
        if value == STUCK:
            codes = np.array([7, 7])
        self._made += 1
        return TinyFrame(samples, token, codes)


class TinyHead:
    rate_hz, dbfs, layers = RATE_HZ, -14.0, LAYERS

    def __init__(self, folder: Path) -> None:
        if not (folder / FILE).is_file():
            raise ModelError(f"{folder}: a head's weights are missing.")
        self.width = int((folder / "width").read_text())
        self.session = open_session(folder / FILE, "a head")

    def begin(self) -> TinyStream:
        return TinyStream(self)


def states_of(tone: int, value: float = 1.0) -> States:
    """The states of a token that sounds as `tone`."""
    made = np.zeros((LAYERS + 1, WIDTH), np.float32)
    made[:, tone] = value
    return made


if __name__ == "__main__":
    sys.exit(head_program.main(sys.argv[1:], TinyHead))
