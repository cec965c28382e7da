"""Mimi's decoder transformer: 25 positions a second; each attends to the last 250, itself included.

The state holds keys after their rotation (RoPE), so that no key is rotated twice. The scales of the
layers (LayerScale) and of the attention are folded into the matrices before them.
"""

from __future__ import annotations

import numpy as np

from appliance.models.mimi_graph.safetensors import Weights
from appliance.models.mimi_graph.streams import Streams
from appliance.models.mimi_graph.weights import CONTEXT, EPSILON, HEADS, ROPE_BASE, MimiWeights
from appliance.models.onnx_graph.onnx_format import FLOAT, INT64

PAST = CONTEXT - 1  # earlier positions that the first one of a call may attend to
HIDDEN = -1e9  # score of masked keys


class Transformer:
    """Builds the layers. `count`: name of the value with the number of positions of a call, [1]."""

    def __init__(self, weights: MimiWeights, streams: Streams, count: str) -> None:
        self._weights, self._streams, self._graph = weights, streams, streams.graph
        g = self._graph
        position = streams.state("position", INT64, 1)
        g.op("Add", position, count, out=position + "_next")
        rows = self._range(count)
        self._cos, self._sin = self._rope_angles(g.add(rows, position))
        self._mask = self._attention_mask(rows, position, g.add(count, g.ints(PAST)))

    def build(self, x: str) -> str:
        """Add all layers: x [n, width] → [n, width]."""
        for layer in range(self._weights.layers):
            name = f"decoder_transformer.layers.{layer}."
            x = self._graph.add(x, self._attention(name, x))
            x = self._graph.add(x, self._feed_forward(name, x))
        return x

    def _attention(self, name: str, x: str) -> str:
        g, w = self._graph, self._weights
        x = self._norm(x, name + "input_layernorm")
        square = (w.width, w.width)
        q, k, v = (w.get(f"{name}self_attn.{part}_proj.weight", *square) for part in "qkv")
        q = q / np.float32(np.sqrt(w.head))
        qkv = g.product(x, np.concatenate([q, k, v]), exact=False)
        queries, keys, values = (self._by_head(part) for part in g.split(qkv, 3, 1))
        queries, keys = self._rotated(queries), self._rotated(keys)
        shape = (HEADS, w.head)
        keys = self._streams.behind_past(keys, PAST, *shape, axis=1, stem="keys")
        values = self._streams.behind_past(values, PAST, *shape, axis=1, stem="values")
        scores = g.op("MatMul", queries, g.transpose(keys, 0, 2, 1))  # [heads, n, 249 + n]
        weights = g.op("Softmax", g.add(scores, self._mask), axis=-1)
        y = g.transpose(g.op("MatMul", weights, values), 1, 0, 2)
        out = w.get(name + "self_attn.o_proj.weight", *square)
        return self._scaled(g.reshape(y, -1, w.width), out, name + "self_attn_layer_scale")

    def _feed_forward(self, name: str, x: str) -> str:
        g, w = self._graph, self._weights
        x = self._norm(x, name + "post_attention_layernorm")
        x = g.product(x, w.get(name + "mlp.fc1.weight", w.inner, w.width), exact=False)
        down = w.get(name + "mlp.fc2.weight", w.width, w.inner)
        return self._scaled(g.op("Gelu", x), down, name + "mlp_layer_scale")

    def _scaled(self, x: str, weight: Weights, scale: str) -> str:
        rows = self._weights.get(scale + ".scale", self._weights.width)
        return self._graph.product(x, rows[:, None] * weight, exact=False)

    def _norm(self, x: str, name: str) -> str:
        scale, shift = (
            self._graph.constant(self._weights.get(f"{name}.{part}", self._weights.width))
            for part in ("weight", "bias")
        )
        return self._graph.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=EPSILON)

    def _by_head(self, x: str) -> str:
        """[n, width] → [heads, n, head]."""
        return self._graph.transpose(self._graph.reshape(x, -1, HEADS, self._weights.head), 1, 0, 2)

    # ── positions ────────────────────────────────────────────────────────────────────────────
    def _rope_angles(self, positions: str) -> tuple[str, str]:
        """Cosine and sine of the RoPE angles: [n, head / 2]."""
        g, head = self._graph, self._weights.head
        rates = 1.0 / ROPE_BASE ** (np.arange(0, head, 2, dtype=np.float32) / np.float32(head))
        column = g.reshape(g.op("Cast", positions, to=FLOAT), -1, 1)
        angles = g.multiply(column, g.constant(rates.astype(np.float32)))
        return g.op("Cos", angles), g.op("Sin", angles)

    def _rotated(self, x: str) -> str:
        """Apply RoPE to x [heads, n, head]: components i and i + head / 2 of a head are a pair."""
        g = self._graph
        a, b = g.split(x, 2, 2)
        real = g.op("Sub", g.multiply(a, self._cos), g.multiply(b, self._sin))
        return g.concat(2, real, g.add(g.multiply(b, self._cos), g.multiply(a, self._sin)))

    def _attention_mask(self, rows: str, position: str, keys: str) -> str:
        """[n, 249 + n]: 0 for keys that a position may attend to. HIDDEN for later positions, those
        more than 249 before it, and rows of the state that have not been written yet."""
        g = self._graph
        row, column = g.reshape(rows, -1, 1), g.reshape(self._range(keys), 1, -1)
        distance = g.op("Sub", column, row)  # 0 to 249 for the 250 keys up to its own
        empty = g.op("Sub", g.ints(PAST), position)  # columns below this are before the first row
        visible = g.op(
            "And",
            g.op("GreaterOrEqual", column, empty),
            g.op(
                "And",
                g.op("GreaterOrEqual", distance, g.ints(0)),
                g.op("LessOrEqual", distance, g.ints(PAST)),
            ),
        )
        return g.op("Where", visible, g.scalar(0.0), g.scalar(HIDDEN))

    def _range(self, count: str) -> str:
        """0 … count - 1; `count` [1]."""
        g = self._graph
        first, step = (g.constant(np.array(value, np.int64)) for value in (0, 1))
        return g.op("Range", first, g.op("Squeeze", count), step)
