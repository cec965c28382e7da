"""Sequences in a streaming graph, and causal convolutions over them: one row per time step, the
newest last.

A convolution is a matrix product with rows laid side by side (im2col): at Mimi's low rates (two
rows a frame in the widest layers) a product reads each weight once, in memory order. The rows that
a convolution needs of earlier calls are a state, zeros at the start like its padding.
"""

from __future__ import annotations

import numpy as np

from appliance.models.mimi_graph.safetensors import Weights
from appliance.models.onnx_graph.graph import END, Graph
from appliance.models.onnx_graph.onnx_format import FLOAT

Value = tuple[str, int, list[int | str]]  # an input or output: name, type, shape


class Streams:
    """Adds operators to `graph`; `states` are the inputs with the values of earlier calls."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.states: list[Value] = []

    def state(self, stem: str, type_: int, *shape: int) -> str:
        """Add an input of that type and shape. The caller names its new value NAME_next."""
        name = f"{stem}_{len(self.states)}"
        self.states.append((name, type_, list(shape)))
        return name

    def behind_past(self, x: str, rows: int, *shape: int, axis: int = 0, stem: str = "past") -> str:
        """Concatenate the last `rows` rows of earlier calls and x [n, …] along `axis`. `shape`: of
        one row."""
        g = self.graph
        past = self.state(stem, FLOAT, *shape[:axis], rows, *shape[axis:])
        both = g.concat(axis, past, x)
        g.cut(both, -rows, END, axis, out=past + "_next")
        return both

    def linear(self, x: str, weight: Weights, bias: Weights | None = None) -> str:
        """Product of x [n, in] and weight [out, in]: [n, out]."""
        y = self.graph.product(x, weight, exact=True)
        return y if bias is None else self.graph.add(y, self.graph.constant(bias))

    def convolution(self, x: str, weight: Weights, bias: Weights) -> str:
        """Causal convolution of x [n, in] with weight [out, in, taps]: [n, out]."""
        g, (out, width, taps) = self.graph, weight.shape
        if taps > 1:
            rows = self.behind_past(x, taps - 1, width)
            x = g.concat(1, *(g.cut(rows, tap, tap + 1 - taps or END, 0) for tap in range(taps)))
        return self.linear(x, weight.transpose(0, 2, 1).reshape(out, taps * width), bias)

    def transposed(self, x: str, weight: Weights, bias: Weights) -> str:
        """Transposed convolution of x [n, in] with weight [in, out, 2 · stride]: [n · stride, out].
        A row of x contributes to its own stride and the next one. The contribution of the last row
        to the next stride is computed in the next call."""
        g, (width, out, taps) = self.graph, weight.shape
        rows = self.behind_past(x, 1, width)
        pair = g.concat(1, g.cut(rows, 0, -1, 0), x)  # the row before, and this one
        stride = taps // 2
        halves = [weight[:, :, stride:], weight[:, :, :stride]]  # taps of the row before, and this
        matrix = np.concatenate([half.transpose(2, 1, 0) for half in halves], axis=2)
        y = self.linear(pair, matrix.reshape(stride * out, 2 * width), np.tile(bias, stride))
        return g.reshape(y, -1, out)

    def repeated(self, x: str, weight: Weights) -> str:
        """Depthwise transposed convolution, otherwise like `transposed`: weight [width, taps]."""
        g, (width, taps) = self.graph, weight.shape
        both = self.behind_past(x, 1, width)
        before = g.cut(both, 0, -1, 0)
        rows = [
            g.add(
                g.multiply(x, g.constant(weight[:, tap])),
                g.multiply(before, g.constant(weight[:, tap + taps // 2])),
            )
            for tap in range(taps // 2)
        ]
        return g.reshape(g.concat(1, *rows), -1, width)
