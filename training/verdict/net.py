"""The verdict's network in torch, and its export as an ONNX graph with explicit states.

In: rows of `appliance.hear.bargein.features` (B, T, 50), T even. Out: (B, T/2, 3) log odds of
backchannel, interruption, noise, one for each 20 ms; and, for enrolment, embeddings (B, T/2, 64).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional as F

from appliance.hear.bargein.features import WIDTH

CHANNELS, HIDDEN, EMBEDDING, CLASSES = 96, 128, 64, 3
HALVING, NEAR, WIDE = 6, 3, 3  # kernel sizes; the first convolution halves the rate
DILATION = 2  # of the third
# Past context of each convolution: rows, channels.
CONTEXT = {
    "rows": (HALVING - 2, WIDTH),
    "near": (NEAR - 1, CHANNELS),
    "wide": ((WIDE - 1) * DILATION, CHANNELS),
}
DROPPED = 0.2  # dropout between the layers, in training
OPSET = 17

Arrays = dict[str, npt.NDArray[Any]]


class Network(nn.Module):
    """Three causal convolutions, a GRU, the embedding that enrolment adapts, an output layer."""

    def __init__(self, words: int, mean: npt.NDArray[Any], spread: npt.NDArray[Any]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))
        self.register_buffer("spread", torch.tensor(spread, dtype=torch.float32))
        self.halving = nn.Conv1d(WIDTH, CHANNELS, HALVING, stride=2)
        self.near = nn.Conv1d(CHANNELS, CHANNELS, NEAR)
        self.wide = nn.Conv1d(CHANNELS, CHANNELS, WIDE, dilation=DILATION)
        self.gru = nn.GRU(CHANNELS, HIDDEN, batch_first=True)
        self.embed = nn.Linear(HIDDEN, EMBEDDING)
        self.answer = nn.Linear(EMBEDDING, CLASSES)
        self.words = nn.Linear(HIDDEN, words)  # second task, in training only: the word
        self.drop = nn.Dropout(DROPPED)

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log odds, embedding, and log odds of the words."""
        x = ((rows - self.mean) / self.spread).transpose(1, 2)
        x = F.relu(self.halving(F.pad(x, (CONTEXT["rows"][0], 0))))
        x = x + F.relu(self.near(F.pad(self.drop(x), (CONTEXT["near"][0], 0))))
        x = x + F.relu(self.wide(F.pad(self.drop(x), (CONTEXT["wide"][0], 0))))
        x, _ = self.gru(self.drop(x.transpose(1, 2)))
        x = self.drop(x)
        made = torch.tanh(self.embed(x))
        return self.answer(made), made, self.words(x)


def arrays(network: Network) -> Arrays:
    return {k: v.detach().numpy().astype(np.float32) for k, v in network.state_dict().items()}


def mean_of(networks: list[Arrays]) -> Arrays:
    """The mean of the weights. Over the last epochs it generalises better than the last one."""
    return {name: np.mean([n[name] for n in networks], axis=0) for name in networks[0]}


def export(
    networks: Sequence[Arrays], temperature: float, path: Path, *, half: bool = False
) -> None:
    """Write the graph of one network, or of several whose log odds are averaged.

    Inputs: rows (1, T, 50) and the states. Outputs: mean log odds divided by `temperature` (1, T/2,
    3), the first network's embedding (1, T/2, 64), and the next states. `half`: 16 bit weights.
    """
    made = _Graph(len(networks), half)
    answers = []
    for which, weights in enumerate(networks):
        embedding = made.body(which, weights, "embedding" if which == 0 else None)
        scaled = weights["answer.weight"] / len(networks), weights["answer.bias"] / len(networks)
        answers.append(made.dense(embedding, *scaled))
    total = answers[0]
    for answer in answers[1:]:
        total = made.add("Add", total, answer)
    made.add("Mul", total, made.constant(np.array([1 / temperature], np.float32)), out="log_odds")
    onnx.save(made.model(), str(path))


class _Graph:
    """Builds the ONNX graph node by node."""

    def __init__(self, networks: int, half: bool) -> None:
        self._networks = networks
        self._half = half
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._count = 0

    def add(self, op: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        self._count += 1
        name = out or f"x{self._count}"
        self._nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(self, value: npt.NDArray[Any]) -> str:
        """Add a constant; with `half`, floats of more than 512 elements are stored as float16."""
        self._count += 1
        name = f"c{self._count}"
        if self._half and value.dtype == np.float32 and value.size > 512:
            self._constants.append(numpy_helper.from_array(value.astype(np.float16), name))
            return self.add("Cast", name, to=TensorProto.FLOAT)
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def state(self, name: str, which: int) -> str:
        """The name of a state, with the network's number if there are several networks."""
        return f"{name}{which}" if self._networks > 1 else name

    def body(self, which: int, weights: Arrays, embedding: str | None) -> str:
        """Add one network from the rows to its embedding, whose output is named `embedding`."""
        x = self.add("Mul", self.add("Sub", "input", self.constant(weights["mean"])),
                     self.constant(1 / weights["spread"]))  # fmt: skip
        x = self.remembered("rows", which, x)
        x = self.conv(x, weights["halving.weight"], weights["halving.bias"], strides=[2])
        for name, dilation in (("near", 1), ("wide", DILATION)):
            longer = self.remembered(name, which, x)
            out = self.conv(longer, weights[f"{name}.weight"], weights[f"{name}.bias"],
                            dilations=[dilation])  # fmt: skip
            x = self.add("Add", x, out)
        x = self.gru(x, which, weights)
        x = self.dense(x, weights["embed.weight"], weights["embed.bias"])
        return self.add("Tanh", x, out=embedding)

    def remembered(self, name: str, which: int, x: str) -> str:
        """x with the previous rows before it; its last rows become the next state."""
        state = self.state(name, which)
        longer = self.add("Concat", f"{state}_in", x, axis=1)
        ends = [self.constant(np.array([v], np.int64)) for v in (-CONTEXT[name][0], 2**31, 1)]
        self.add("Slice", longer, *ends, out=f"{state}_out")
        return longer

    def conv(
        self, x: str, weight: npt.NDArray[Any], bias: npt.NDArray[Any], **attributes: Any
    ) -> str:
        x = self.add("Transpose", x, perm=[0, 2, 1])
        x = self.add("Conv", x, self.constant(weight), self.constant(bias), **attributes)
        return self.add("Transpose", self.add("Relu", x), perm=[0, 2, 1])

    def gru(self, x: str, which: int, weights: Arrays) -> str:
        """Add a GRU. Order of gates: reset, update, new in torch; update, reset, hidden in ONNX."""

        def gates(name: str) -> npt.NDArray[Any]:
            reset, update, new = np.split(weights[name], 3)
            return np.concatenate([update, reset, new])

        bias = np.concatenate([gates("gru.bias_ih_l0"), gates("gru.bias_hh_l0")])
        x = self.add("Transpose", x, perm=[1, 0, 2])
        parts = [self.constant(a[None]) for a in
                 (gates("gru.weight_ih_l0"), gates("gru.weight_hh_l0"), bias)]  # fmt: skip
        state = self.state("hidden", which)
        self._nodes.append(helper.make_node("GRU", [x, *parts, "", f"{state}_in"],
                                            [f"{state}_y", f"{state}_out"], hidden_size=HIDDEN,
                                            linear_before_reset=1))  # fmt: skip
        squeezed = self.add("Squeeze", f"{state}_y", self.constant(np.array([1], np.int64)))
        return self.add("Transpose", squeezed, perm=[1, 0, 2])

    def dense(self, x: str, weight: npt.NDArray[Any], bias: npt.NDArray[Any]) -> str:
        x = self.add("MatMul", x, self.constant(np.ascontiguousarray(weight.T)))
        return self.add("Add", x, self.constant(bias))

    def model(self) -> Any:
        def value(name: str, *shape: int | str) -> Any:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, *shape])

        shapes = {
            self.state(name, which): shape
            for which in range(self._networks)
            for name, shape in [*CONTEXT.items(), ("hidden", (1, HIDDEN))]
        }
        graph = helper.make_graph(
            self._nodes, "verdict",
            [value("input", "T", WIDTH), *(value(f"{n}_in", *s) for n, s in shapes.items())],
            [value("log_odds", "half", CLASSES),
             value("embedding", "half", EMBEDDING),
             *(value(f"{n}_out", *s) for n, s in shapes.items())],
            self._constants,
        )  # fmt: skip
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=8,
            producer_name="interlude training.verdict",
        )
        onnx.checker.check_model(made)
        return made
