"""Mimi's decoder as one streaming ONNX graph: codes and state in, samples and state out.

codes → rows of eight codebooks, summed → projection → upsampling by 2 (25 rows a second) →
transformer → SEANet: a convolution, then four stages of a transposed convolution and a residual
block → samples. The graph is causal, and every state is zeros before the first frame.
"""

from __future__ import annotations

import numpy as np

from appliance.models.mimi_graph.streams import Streams, Value
from appliance.models.mimi_graph.transformer import Transformer
from appliance.models.mimi_graph.weights import (
    BLOCK_TAPS,
    BOOKS,
    FIRST_TAPS,
    LAST_TAPS,
    POSITIONS,
    SEMANTIC_BOOKS,
    MimiWeights,
)
from appliance.models.onnx_graph.graph import END, Graph
from appliance.models.onnx_graph.onnx_format import FLOAT, INT64, value_info


class MimiDecoder:
    """Builds the graph. Raises ModelError for a tensor that is missing, unknown or has another
    shape, OSError."""

    def __init__(self, weights: MimiWeights, graph: Graph) -> None:
        self._weights, self._graph, self.streams = weights, graph, Streams(graph)

    def build(self) -> bytes:
        """Return the bytes of the graph file; its large constants are in the data file."""
        g, w = self._graph, self._weights
        frames = g.cut(g.op("Shape", "codes"), 0, 1, 0)
        x = self.streams.repeated(
            self._latents(), w.get("upsample.conv.weight", w.width, 1, 4)[:, 0]
        )
        positions = g.multiply(frames, g.ints(POSITIONS))
        x = Transformer(w, self.streams, positions).build(x)
        g.op("Reshape", self._sound(x), g.ints(-1), out="samples")
        w.check_all_used()
        states = self.streams.states
        inputs: list[Value] = [("codes", INT64, ["frames", BOOKS]), *states]
        outputs: list[Value] = [("samples", FLOAT, ["samples_out"])]
        outputs += [(f"{name}_next", type_, shape) for name, type_, shape in states]
        return g.model(
            [value_info(*value) for value in inputs],
            [value_info(*value) for value in outputs],
            "mimi-decoder",
        )

    def _latents(self) -> str:
        """[n, width]: the codebook rows of a frame's codes, summed and projected."""
        g, w = self._graph, self._weights
        books = g.constant(np.concatenate([w.book(number) for number in range(BOOKS)]))
        first = np.arange(BOOKS) * w.codes  # offset of each codebook in the joint table
        rows = g.op("Gather", books, g.add("codes", g.ints(*map(int, first))))
        sums = [
            g.op("ReduceSum", g.cut(rows, begin, end, 1), g.ints(1), keepdims=0)
            for begin, end in ((0, SEMANTIC_BOOKS), (SEMANTIC_BOOKS, END))
        ]
        both = [w.projection(kind) for kind in ("semantic", "acoustic")]
        return self.streams.linear(g.concat(1, *sums), np.concatenate(both, axis=1))

    def _sound(self, x: str) -> str:
        """SEANet: [n, width] → [n · frame_samples / 2, 1]."""
        w = self._weights
        x = self._convolved(x, "decoder.layers.0.conv", w.channels, w.width, FIRST_TAPS)
        channels = w.channels
        for number, ratio in enumerate(w.ratios):
            name, half = w.stage(number), channels // 2
            weight = w.get(name + ".weight", channels, half, 2 * ratio)
            x = self.streams.transposed(self._elu(x), weight, w.get(name + ".bias", half))
            channels = half
            x = self._graph.add(x, self._block(w.block(number), x, channels))
        return self._convolved(self._elu(x), w.last, 1, channels, LAST_TAPS)

    def _block(self, name: str, x: str, channels: int) -> str:
        half = self._weights.get(name + ".1.conv.bias", channels // 2).size
        y = self._convolved(self._elu(x), name + ".1.conv", half, channels, BLOCK_TAPS)
        return self._convolved(self._elu(y), name + ".3.conv", channels, half, 1)

    def _convolved(self, x: str, name: str, out: int, width: int, taps: int) -> str:
        weight = self._weights.get(name + ".weight", out, width, taps)
        return self.streams.convolution(x, weight, self._weights.get(name + ".bias", out))

    def _elu(self, x: str) -> str:
        return self._graph.op("Elu", x)
