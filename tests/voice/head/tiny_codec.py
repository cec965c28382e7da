"""A codec made for tests: each code adds its own wave, and an echo extends across frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

BOOKS, CODES, FRAME = 2, 5, 6
BACK = 4  # samples from a sound to its echo, and of the delay if there is one
RATE_HZ = 75  # 12.5 frames a second
TABLE = np.random.default_rng(3).uniform(-0.4, 0.4, (BOOKS, CODES, FRAME)).astype(np.float32)


def write(folder: Path, *, delayed: bool = False, past: int = BACK, **changes: Any) -> Path:
    """Write tiny.onnx and tiny.json. `past`: the number of samples in the graph's state; `changes`:
    to the manifest."""
    constants = {
        "first": TABLE[0], "second": TABLE[1], "flat": np.array([-1]), "zero": np.array(0),
        "one": np.array(1), "half": np.array(0.5, np.float32), "start": np.array([0]),
        "back": np.array([-past]), "end": np.array([2**40]), "axis": np.array([0]),
    }  # fmt: skip
    node = helper.make_node
    last = node("Identity", ["before"], ["samples"])
    if not delayed:
        last = node("Add", ["wave", "echo"], ["samples"])
    nodes = [
        node("Gather", ["codes", "zero"], ["code_0"], axis=1),
        node("Gather", ["codes", "one"], ["code_1"], axis=1),
        node("Gather", ["first", "code_0"], ["wave_0"]),
        node("Gather", ["second", "code_1"], ["wave_1"]),
        node("Add", ["wave_0", "wave_1"], ["waves"]),
        node("Reshape", ["waves", "flat"], ["wave"]),
        node("Concat", ["past", "wave"], ["both"], axis=0),
        node("Slice", ["both", "back", "end", "axis"], ["past_next"]),
        node("Slice", ["both", "start", "back", "axis"], ["before"]),
        node("Mul", ["before", "half"], ["echo"]),
        last,
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "tiny",
        [info("codes", TensorProto.INT64, ["n", BOOKS]), info("past", TensorProto.FLOAT, [past])],
        [info("samples", TensorProto.FLOAT, ["m"]), info("past_next", TensorProto.FLOAT, [past])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(folder / "tiny.onnx"))
    manifest = {
        "format": 1, "graph": "tiny.onnx", "rate_hz": RATE_HZ, "frame_samples": FRAME,
        "codebooks": BOOKS, "codes": CODES,
        "states": [{"name": "past", "type": "float32", "shape": [BACK]}],
    }  # fmt: skip
    if delayed:
        manifest |= {"delay_samples": BACK, "closing_codes": [1, 2]}
    path = folder / "tiny.json"
    path.write_text(json.dumps(manifest | changes), encoding="utf-8")
    return path


def codes(frames: int, seed: int = 0) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, CODES, (frames, BOOKS))


def waves(frames: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The sound of the codes, without the echo."""
    both: npt.NDArray[np.float32] = TABLE[0][frames[:, 0]] + TABLE[1][frames[:, 1]]
    return both.reshape(-1)
