"""Sequences in a streaming graph, and convolutions over them: a row a moment, the newest last.

A convolution is a product of rows that were laid side by side with a matrix: at Mimi's low rates
(two rows a frame in the widest layers) a product reads its weights once, in the order they lie in.
What a convolution needs of earlier calls is a state: zeros at the beginning, as its padding is.
"""

from __future__ import annotations

import numpy as np

from appliance.models.mimi_graph.safetensors import Weights
from appliance.models.onnx_graph.graph import END, Graph
from appliance.models.onnx_graph.onnx_format import FLOAT

Value = tuple[str, int, list[int | str]]  # an input or output: name, type, shape


class Streams:
    """Builds into `graph`; `states` are the inputs that hold what earlier calls left."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.states: list[Value] = []

    def state(self, stem: str, type_: int, *shape: int) -> str:
        """A new input of that type and shape; its successor is to be named NAME_next."""
        name = f"{stem}_{len(self.states)}"
        self.states.append((name, type_, list(shape)))
        return name

    def behind_past(self, x: str, rows: int, *shape: int, axis: int = 0, stem: str = "past") -> str:
        """x [n, …] behind the `rows` of `shape` that came before it, along `axis`."""
        g = self.graph
        past = self.state(stem, FLOAT, *shape[:axis], rows, *shape[axis:])
        both = g.concat(axis, past, x)
        g.cut(both, -rows, END, axis, out=past + "_next")
        return both

    def linear(self, x: str, weight: Weights, bias: Weights | None = None) -> str:
        """[n, in] by [out, in]: [n, out]."""
        y = self.graph.product(x, weight, exact=True)
        return y if bias is None else self.graph.add(y, self.graph.constant(bias))

    def convolution(self, x: str, weight: Weights, bias: Weights) -> str:
        """x [n, in] by weight [out, in, taps], causal: [n, out]."""
        g, (out, width, taps) = self.graph, weight.shape
        if taps > 1:
            both = self.behind_past(x, taps - 1, width)
            x = g.concat(1, *(g.cut(both, tap, tap + 1 - taps or END, 0) for tap in range(taps)))
        return self.linear(x, weight.transpose(0, 2, 1).reshape(out, taps * width), bias)

    def transposed(self, x: str, weight: Weights, bias: Weights) -> str:
        """x [n, in] by weight [in, out, 2 · stride]: [n · stride, out]. A row of x reaches its own
        stretch and the next one; what it gives behind the last is not computed yet."""
        g, (width, out, taps) = self.graph, weight.shape
        both = self.behind_past(x, 1, width)
        pair = g.concat(1, g.cut(both, 0, -1, 0), x)  # the row before, and this one
        stride = taps // 2
        halves = [weight[:, :, stride:], weight[:, :, :stride]]  # which taps they reach it with
        matrix = np.concatenate([half.transpose(2, 1, 0) for half in halves], axis=2)
        y = self.linear(pair, matrix.reshape(stride * out, 2 * width), np.tile(bias, stride))
        return g.reshape(y, -1, out)

    def repeated(self, x: str, weight: Weights) -> str:
        """The same for a transposed convolution of each channel by itself: weight [width, taps]."""
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
