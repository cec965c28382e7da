"""A Piper voice made for tests: a tone for each phoneme, in a graph with Piper's inputs."""

from __future__ import annotations

import json
import string
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RATE_HZ = 22050
HOP = 1024  # samples per phoneme id
LEAD = 8  # phonemes' worth of silence at the start, as real voices have


def write(path: Path, *, spin: int = 0, espeak: str = "en-us") -> Path:
    """Write `path` and `path`.json. `spin`: matrix products that slow each run down; `espeak`: the
    voice of espeak-ng that makes the phonemes, which sets the language."""
    tone = 0.3 * np.sin(2 * np.pi * 220 * np.arange(HOP) / RATE_HZ)
    constants: dict[str, np.ndarray] = {
        "tone": tone.reshape(1, HOP).astype(np.float32),
        "lead": np.zeros(LEAD * HOP, np.float32),
        "column": np.array([-1, 1], np.int64),
        "flat": np.array([-1], np.int64),
        "shape": np.array([1, 1, 1, -1], np.int64),
        "zero": np.array(0.0, np.float32),
        "matrix": np.full((256, 256), 1 / 256, np.float32),
        "spins": np.array(spin, np.int64),
        "true": np.array(True),
    }
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["still"]),
            helper.make_node("MatMul", ["state", "matrix"], ["next"]),
        ],
        "spin",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [256, 256]),
        ],
        [
            helper.make_tensor_value_info("still", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [256, 256]),
        ],
    )
    node = helper.make_node
    nodes = [
        node("Cast", ["input"], ["ids"], to=TensorProto.FLOAT),
        node("Sign", ["ids"], ["ones"]),
        node("Reshape", ["ones", "column"], ["ones_column"]),
        node("MatMul", ["ones_column", "tone"], ["tones"]),
        node("Reshape", ["tones", "flat"], ["sound"]),
        node("Loop", ["spins", "true", "matrix"], ["spun"], body=body),
        node("ReduceSum", ["spun"], ["sum"], keepdims=0),
        node("ReduceSum", ["scales"], ["scale_sum"], keepdims=0),
        node("Cast", ["input_lengths"], ["lengths"], to=TensorProto.FLOAT),
        node("ReduceSum", ["lengths"], ["length_sum"], keepdims=0),
        node("Add", ["sum", "scale_sum"], ["some"]),
        node("Add", ["some", "length_sum"], ["all"]),
        node("Mul", ["all", "zero"], ["nothing"]),
        node("Concat", ["lead", "sound"], ["padded"], axis=0),
        node("Add", ["padded", "nothing"], ["heard"]),
        node("Reshape", ["heard", "shape"], ["output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "voice",
        [
            helper.make_tensor_value_info("input", TensorProto.INT64, [1, None]),
            helper.make_tensor_value_info("input_lengths", TensorProto.INT64, [1]),
            helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
        ],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 1, 1, None])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    path.with_name(path.name + ".json").write_text(json.dumps(config(espeak)), encoding="utf-8")
    return path


def config(espeak: str = "en-us") -> dict[str, object]:
    """The JSON file of a Piper voice, with all phonemes of English and some more."""
    phonemes = " _^$" + string.ascii_letters + string.punctuation + "ˈˌːəɪɛæʌʊɔɑɒɜɹɾʃʒθðŋɡɐᵻ̩"
    return {
        "audio": {"sample_rate": RATE_HZ, "quality": "medium"},
        "espeak": {"voice": espeak},
        "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8},
        "phoneme_type": "espeak",
        "phoneme_id_map": {char: [i + 1] for i, char in enumerate(dict.fromkeys(phonemes))},
        "num_symbols": 256,
        "num_speakers": 1,
        "speaker_id_map": {},
    }
