"""Builds Whisper's encoder as an ONNX graph of any length up to 2 s, in 8 bits, and adds the head.

In: weights by CTranslate2's names. Out: ONNX models. Input `mel`: float32 (1, 80, T), as
`appliance.hear.turn.log_mel.scaled_bands` gives it. Values `h1` to `h4`, one for each block:
float32 (1, (T + 1) // 2, 384), 20 ms a position. With a head one output `log_odds`: float32 (2,),
log P(murmur) − log P(call) and log P(noise) − log P(voice).

The method is that of openai/whisper, `model.py` (`AudioEncoder`): two convolutions with GELU,
sinusoidal positions, blocks of attention and an MLP with the normalisation first.
"""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from appliance.errors import ModelError
from training.murmur.weights import Arrays

Floats = npt.NDArray[np.float32]

BANDS = 80
HEAD_WIDTH = 64  # of each attention head, in all sizes of Whisper
POSITIONS = 100  # 2 s; Whisper has 1,500, which are 2 MB
EPSILON = 1e-5  # of torch's LayerNorm
OPSET, IR = 20, 9  # GELU as one operator; readable for onnxruntime 1.20
BEFORE, AFTER = 7, 3  # positions before the onset, and of the zeros at the end
OUTPUT = "log_odds"
LEAST = 1e-7  # probability, so that a logarithm is finite


@dataclass(frozen=True)
class Head:
    """Several networks of one hidden layer on pooled features (F,), and the layers they read.

    mean, spread  (F,), to normalise the features with, which are then cut off at ± `most`
    networks      hidden weights (F, H) and biases (H,), class weights (H, 3) and biases (3,);
                  classes: murmur, call, noise
    layers, parts the features are means of these layers over that many equal parts of the burst
    """

    mean: Floats
    spread: Floats
    networks: tuple[tuple[Floats, Floats, Floats, Floats], ...]
    layers: tuple[int, ...]
    parts: int
    most: float = 6.0


class _Graph:
    """Nodes and constants in the order of their addition, with names that count up."""

    def __init__(self, prefix: str) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._names = (f"{prefix}{i}" for i in itertools.count())

    def constant(self, value: npt.ArrayLike) -> str:
        name = next(self._names)
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def halved(self, value: Floats) -> str:
        """A constant in 16-bit floats if that loses nothing: so are Whisper's weights."""
        half = value.astype(np.float16)
        if (half != value).any():
            return self.constant(value)
        return self.add("Cast", self.constant(half), to=TensorProto.FLOAT)

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def add(self, kind: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        out = out or next(self._names)
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        return out


class _Encoder(_Graph):
    def __init__(self, weights: Arrays) -> None:
        super().__init__("encoder.")
        self._weights = weights

    def build(self) -> onnx.ModelProto:
        width = self._weights["encoder/conv1/weight"].shape[0]
        x = "mel"
        for name, stride in (("encoder/conv1", 1), ("encoder/conv2", 2)):
            pair = [self.halved(self._weights[f"{name}/{each}"]) for each in ("weight", "bias")]
            x = self.add("Conv", x, *pair, kernel_shape=[3], pads=[1, 1], strides=[stride])
            x = self.add("Gelu", x)
        x = self.add("Transpose", x, perm=[0, 2, 1])
        table = self._weights["encoder/position_encodings/encodings"][:POSITIONS]
        count = self.add("Shape", x, start=1, end=2)
        here = self.add("Slice", self.halved(table), self.integers(0), count, self.integers(0))
        x = self.add("Add", x, here)
        blocks = sum(name.endswith("ffn/linear_0/weight") for name in self._weights
                     if name.startswith("encoder/"))  # fmt: skip
        for i in range(blocks):
            at = f"encoder/layer_{i}"
            x = self.add("Add", x, self._attention(x, f"{at}/self_attention", width))
            y = self._dense(self._normalised(x, f"{at}/ffn/layer_norm"), f"{at}/ffn/linear_0")
            y = self._dense(self.add("Gelu", y), f"{at}/ffn/linear_1")
            last = i + 1 == blocks
            x = self.add("Add", x, y, out="" if last else f"h{i + 1}")
        self._normalised(x, "encoder/layer_norm", out=f"h{blocks}")
        shapes: dict[str, list[int | str | None]] = {
            "mel": [1, BANDS, "frames"],
            f"h{blocks}": [1, "positions", width],
        }
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                for name, shape in shapes.items()]  # fmt: skip
        graph = helper.make_graph(self.nodes, "murmur", ends[:1], ends[1:], self.constants)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR
        )

    def _attention(self, x: str, at: str, width: int) -> str:
        y = self._normalised(x, f"{at}/layer_norm")
        weight, bias = (self._weights[f"{at}/linear_0/{each}"] for each in ("weight", "bias"))
        split = self.integers(0, 0, width // HEAD_WIDTH, HEAD_WIDTH)
        heads = []
        for i, (w, b) in enumerate(zip(np.split(weight, 3), np.split(bias, 3), strict=True)):
            scale = np.float32(HEAD_WIDTH**-0.5 if i == 0 else 1.0)  # queries only
            dense = self.add("MatMul", y, self.constant(w.T * scale))
            dense = self.add("Add", dense, self.constant(b * scale))
            order = [0, 2, 3, 1] if i == 1 else [0, 2, 1, 3]
            heads.append(self.add("Transpose", self.add("Reshape", dense, split), perm=order))
        likeness = self.add("Softmax", self.add("MatMul", *heads[:2]), axis=-1)
        mixed = self.add("Transpose", self.add("MatMul", likeness, heads[2]), perm=[0, 2, 1, 3])
        mixed = self.add("Reshape", mixed, self.integers(0, 0, width))
        return self._dense(mixed, f"{at}/linear_1")

    def _dense(self, x: str, name: str) -> str:
        product = self.add("MatMul", x, self.constant(self._weights[f"{name}/weight"].T))
        return self.add("Add", product, self.constant(self._weights[f"{name}/bias"]))

    def _normalised(self, x: str, name: str, out: str = "") -> str:
        pair = [self.constant(self._weights[f"{name}/{each}"]) for each in ("gamma", "beta")]
        return self.add("LayerNormalization", x, *pair, out=out, axis=-1, epsilon=EPSILON)


def encoder(weights: Arrays) -> onnx.ModelProto:
    """The encoder in 32-bit floats. Raises ModelError if weights are missing."""
    try:
        return _Encoder(weights).build()
    except KeyError as error:
        raise ModelError(f"The model has no weights {error}: it is not Whisper.") from error


def in_8_bits(model: onnx.ModelProto) -> onnx.ModelProto:
    """Matrices in 8 bits, a scale for each column; activations are scaled as they come."""
    with tempfile.TemporaryDirectory() as folder:
        whole, small = Path(folder) / "whole.onnx", Path(folder) / "small.onnx"
        onnx.save(model, str(whole))
        quantize_dynamic(
            whole, small, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"],
            per_channel=True, reduce_range=True,
        )  # fmt: skip
        return onnx.load(str(small))


def with_head(model: onnx.ModelProto, head: Head) -> onnx.ModelProto:
    """A copy of the encoder with the head, and `log_odds` as its only output."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    made = _Graph("head.")
    axis, one = made.integers(1), made.integers(1)
    pools = []
    for layer in head.layers:
        heard = made.add("Slice", f"h{layer}", made.integers(BEFORE), made.integers(-AFTER), axis)
        parts = [heard]
        if head.parts > 1:
            count = made.add("Shape", heard, start=1, end=2)
            size = made.add("Div", count, made.integers(head.parts))
            edges = [made.add("Mul", size, made.integers(i)) for i in range(head.parts)]
            edges.append(count)
            parts = [made.add("Slice", heard, first, last, axis)
                     for first, last in itertools.pairwise(edges)]  # fmt: skip
        pools += [made.add("ReduceMean", part, axis, keepdims=0) for part in parts]
    x = made.add("Concat", *pools, axis=-1) if len(pools) > 1 else pools[0]
    x = made.add("Sub", x, made.constant(head.mean))
    x = made.add("Div", x, made.constant(head.spread))
    limits = [made.constant(np.array(each, np.float32)) for each in (-head.most, head.most)]
    x = made.add("Clip", x, *limits)
    said = []
    for w, b, w2, b2 in head.networks:
        y = made.add("Relu", made.add("Gemm", x, made.constant(w), made.constant(b)))
        y = made.add("Gemm", y, made.constant(w2), made.constant(b2))
        said.append(made.add("Softmax", y, axis=-1))
    mean = made.add("Mean", *said)
    least = made.constant(np.array(LEAST, np.float32))
    odds = made.add("Log", made.add("Add", mean, least))
    murmur, call, noise = (
        made.add("Slice", odds, made.integers(i), made.integers(i + 1), one) for i in range(3)
    )
    voice = made.add("ReduceLogSumExp", made.add("Slice", odds, made.integers(0), made.integers(2),
                     one), one)  # fmt: skip
    differences = made.add("Concat", made.add("Sub", murmur, call), made.add("Sub", noise, voice),
                           axis=1)  # fmt: skip
    made.add("Reshape", differences, made.integers(2), out=OUTPUT)
    out.graph.node.extend(made.nodes)
    out.graph.initializer.extend(made.constants)
    del out.graph.output[:]
    out.graph.output.append(helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [2]))
    onnx.checker.check_model(out)
    return out
