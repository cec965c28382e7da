"""Gemma 4's audio encoder as one streaming ONNX graph.

In: sound and state. Out: soft tokens and the state after them.

A call takes 640 n samples and returns n soft tokens. The graph is causal: token k depends on
samples 640 k - 640 to 640 k + 639 and, in each layer, on the 11 tokens before it in the attention
and the 4 before it in the convolution. So the state is small, and all zeros at the start of a clip.

`frames` is the number of valid frames among the call's 4 n frames of the spectrum. It is less than
4 n only at the end of a clip: llama.cpp pads the rest with zeros, in the spectrum and after the
first convolution. Two names are swapped in the files: `conv_norm` is the norm before the
convolution module, `norm_conv` the one after its depthwise convolution.
"""

from __future__ import annotations

import numpy as np

from appliance.models.encoder_graph import spectrum
from appliance.models.encoder_graph.spectrum import HOP_SAMPLES, TOKEN_FRAMES, TOKEN_SAMPLES
from appliance.models.encoder_graph.tower import EPSILON, PAST_TOKENS, TAPS, AudioTower
from appliance.models.onnx_graph.graph import END, Graph
from appliance.models.onnx_graph.onnx_format import FLOAT, INT64, value_info

SOFT_CAP = 50.0  # of the attention's scores
KEY_SCALE = float(np.log(1 + np.e) / np.log(2))  # softplus(1) / ln 2
HIDDEN = -1e9  # score of masked keys

Value = tuple[str, int, list[int | str]]  # an input or output: name, type, shape


class Conformer:
    """Builds the graph of one tower. `half_convolutions`: inputs and weights of the two strided
    convolutions are rounded to 16 bits, as llama.cpp always does; only to compare with it."""

    def __init__(self, tower: AudioTower, graph: Graph, *, half_convolutions: bool = False) -> None:
        self._tower, self._graph = tower, graph
        self._half = half_convolutions
        g = graph
        self._count = g.op("Div", g.op("Shape", "sound"), g.ints(TOKEN_SAMPLES))  # tokens, [1]
        self._keys_count = g.op("Add", self._count, g.ints(PAST_TOKENS))
        self._mask = self._attention_mask()
        # For `_by_distance`: padding of the rows, number of values kept, and the final shape.
        self._pad = g.concat(0, g.ints(0, 0, 0, 0, 0), self._count)
        self._area = g.multiply(self._count, self._keys_count)
        self._square = g.concat(0, g.ints(tower.heads), self._count, self._keys_count)

    def build(self) -> bytes:
        """Return the bytes of the graph file; large constants are in the data file. Raises
        ModelError for tensors that are missing or unknown, OSError."""
        g, t = self._graph, self._tower
        g.op("Min", g.add("seen", self._count), g.ints(PAST_TOKENS), out="seen_next")
        x = self._subsample(self._spectrum())
        states = [
            [g.op("Squeeze", part, g.ints(0)) for part in g.split(name, t.layers, 0)]
            for name in ("keys", "values", "taps")
        ]
        next_states: list[list[str]] = [[], [], []]
        for layer, (keys, values, taps) in enumerate(zip(*states, strict=True)):
            x, *new_states = self._block(layer, x, keys, values, taps)
            for parts, part in zip(next_states, new_states, strict=True):
                parts.append(g.op("Unsqueeze", part, g.ints(0)))
        for name, parts in zip(("keys", "values", "taps"), next_states, strict=True):
            g.concat(0, *parts, out=name + "_next")
        g.op("Identity", self._projected(x), out="tokens")
        t.check_all_used()
        state = self._state()
        inputs: list[Value] = [("sound", FLOAT, ["samples"]), ("frames", INT64, [1]), *state]
        outputs: list[Value] = [("tokens", FLOAT, ["tokens_out", t.out])]
        outputs += [(f"{name}_next", type_, shape) for name, type_, shape in state]
        return g.model(
            [value_info(*value) for value in inputs],
            [value_info(*value) for value in outputs],
            "gemma4a",
        )

    def _state(self) -> list[Value]:
        t = self._tower
        return [
            ("seen", INT64, [1]),  # tokens that keys and values hold, 0 to 11
            ("samples_past", FLOAT, [HOP_SAMPLES]),
            ("spectrum_past", FLOAT, [1, 1, t.bands]),
            ("strided_past", FLOAT, [1, t.channels, 1, t.bands // 2]),
            ("keys", FLOAT, [t.layers, t.heads, PAST_TOKENS, t.head]),
            ("values", FLOAT, [t.layers, t.heads, PAST_TOKENS, t.head]),
            ("taps", FLOAT, [t.layers, TAPS - 1, t.width]),
        ]

    # ── from sound to the width of the layers ────────────────────────────────────────────────
    def _spectrum(self) -> str:
        """[1, 4 n, bands]. The windowed DFT is computed as a convolution with its matrix."""
        g, t = self._graph, self._tower
        sound = g.concat(0, "samples_past", "sound")
        g.cut(sound, -HOP_SAMPLES, END, 0, out="samples_past_next")
        matrix = g.constant(spectrum.windowed_dft()[:, None])
        x = g.op("Conv", g.reshape(sound, 1, 1, -1), matrix, strides=[HOP_SAMPLES])
        real, imaginary = g.split(g.multiply(x, x), 2, 1)
        magnitude = g.op("Sqrt", g.add(real, imaginary))
        x = g.op("MatMul", g.constant(spectrum.filterbank(t.bands)), magnitude)
        x = g.op("Log", g.op("Max", x, g.scalar(spectrum.FLOOR)))
        valid = g.op("Less", self._range(TOKEN_FRAMES), "frames")
        return g.transpose(g.op("Where", valid, x, g.scalar(0.0)), 0, 2, 1)

    def _subsample(self, x: str) -> str:
        """Two convolutions with stride 2, each with one past frame as its state: [n, width]."""
        g, t = self._graph, self._tower
        x = g.concat(1, "spectrum_past", x)
        g.cut(x, -1, END, 1, out="spectrum_past_next")
        x = self._convolved(0, g.op("Unsqueeze", x, g.ints(1)))
        half = g.op("Div", g.add("frames", g.ints(1)), g.ints(2))
        valid = g.reshape(g.op("Less", self._range(TOKEN_FRAMES // 2), half), 1, -1, 1, 1)
        x = g.transpose(g.op("Where", valid, x, g.scalar(0.0)), 0, 3, 1, 2)
        x = g.concat(2, "strided_past", x)
        g.cut(x, -1, END, 2, out="strided_past_next")
        x = self._convolved(1, x)
        weight = t.get("a.input_projection.weight")
        return self._biased(
            self._linear(g.reshape(x, -1, weight.shape[1]), "a.input_projection"),
            "a.input_projection",
        )

    def _convolved(self, number: int, x: str) -> str:
        """x [1, channels, time, bands] → [1, time / 2, bands / 2, channels]."""
        g, t, name = self._graph, self._tower, f"a.conv1d.{number}"
        weight = t.get(name + ".weight")
        if self._half:
            weight, x = weight.astype(np.float16).astype(np.float32), g.rounded_to_half(x)
        # No padding along time: the past frame takes its place.
        x = g.op("Conv", x, g.constant(weight), strides=[2, 2], pads=[0, 1, 0, 1])
        x = self._biased(g.transpose(x, 0, 2, 3, 1), name)
        if name + ".norm.weight" in t:
            scale = g.constant(t.get(name + ".norm.weight"))
            x = g.op("LayerNormalization", x, scale, axis=-1, epsilon=EPSILON)
        return g.op("Relu", x)

    # ── a layer ──────────────────────────────────────────────────────────────────────────────
    def _block(self, layer: int, x: str, keys: str, values: str, taps: str) -> list[str]:
        """Return the layer's output, and its new keys, values and convolution rows."""
        p = f"a.blk.{layer}."
        x = self._feed_forward(p, "", x)
        attended, keys, values = self._attention(layer, x, keys, values)
        x = self._graph.add(x, attended)
        convolved, taps = self._convolution(p, x, taps)
        x = self._graph.add(x, convolved)
        x = self._feed_forward(p, "_1", x)
        return [self._norm(x, p + "ln2"), keys, values, taps]

    def _feed_forward(self, p: str, suffix: str, x: str) -> str:
        y = self._norm(x, f"{p}ffn_norm{suffix}")
        y = self._graph.silu(self._linear(y, f"{p}ffn_up{suffix}"))
        y = self._linear(y, f"{p}ffn_down{suffix}")
        return self._graph.add(x, self._norm(y, f"{p}ffn_post_norm{suffix}", 0.5))

    def _attention(self, layer: int, x: str, keys: str, values: str) -> tuple[str, str, str]:
        g, t, p = self._graph, self._tower, f"a.blk.{layer}."
        x = self._norm(x, p + "attn_pre_norm")
        q, k, v = (
            g.transpose(g.reshape(self._linear(x, f"{p}attn_{c}"), -1, t.heads, t.head), 1, 0, 2)
            for c in "qkv"
        )
        # One factor of the query includes the scales of query and key and the cap's division.
        scale = KEY_SCALE / np.sqrt(t.head) / np.log(2) / SOFT_CAP
        q = g.multiply(q, self._dimension_scales(p + "per_dim_scale", scale))
        if p + "per_dim_k_scale.weight" in t:
            k = g.multiply(k, self._dimension_scales(p + "per_dim_k_scale", 1.0))
        k, v = g.concat(1, keys, k), g.concat(1, values, v)  # [heads, 11 + n, head]
        scores = g.add(g.op("MatMul", q, g.transpose(k, 0, 2, 1)), self._relative_scores(layer, q))
        scores = g.multiply(g.op("Tanh", scores), g.scalar(SOFT_CAP))
        weights = g.op("Softmax", g.add(scores, self._mask), axis=-1)
        y = g.reshape(g.transpose(g.op("MatMul", weights, v), 1, 0, 2), -1, t.width)
        y = self._biased(self._linear(y, p + "attn_out"), p + "attn_out")
        y = self._norm(y, p + "attn_post_norm")
        return y, g.cut(k, -PAST_TOKENS, END, 1), g.cut(v, -PAST_TOKENS, END, 1)

    def _relative_scores(self, layer: int, q: str) -> str:
        """Relative-position term of the scores: [heads, n, 11 + n]. Row i is shifted right by i:
        padded to a length of 12 + n, read with a length of 11 + n (Transformer-XL, appendix B)."""
        g, t = self._graph, self._tower
        relative = (t.relative_keys(layer) / KEY_SCALE).transpose(1, 2, 0)
        scores = g.op("MatMul", q, g.constant(relative.astype(np.float32)))  # [heads, n, 12]
        scores = g.op("Pad", scores, self._pad, g.scalar(0.0))
        scores = g.reshape(scores, t.heads, -1)
        scores = g.op("Slice", scores, g.ints(0), self._area, g.ints(1))
        return g.op("Reshape", scores, self._square)

    def _convolution(self, p: str, x: str, taps: str) -> tuple[str, str]:
        g, t = self._graph, self._tower
        y = self._linear(self._norm(x, p + "conv_norm"), p + "conv_pw1")
        value, gate = g.split(y, 2, 1)
        y = g.concat(0, taps, g.multiply(value, g.op("Sigmoid", gate)))  # [4 + n, width]
        weight = t.get(p + "conv_dw.weight")
        parts = [
            g.multiply(
                g.cut(y, tap, tap + 1 - TAPS if tap + 1 < TAPS else END, 0),
                g.constant(weight[:, tap]),
            )
            for tap in range(TAPS)
        ]
        total = parts[0]
        for part in parts[1:]:
            total = g.add(total, part)
        total = self._biased(total, p + "conv_dw")
        z = g.silu(self._norm(total, p + "norm_conv"))
        return self._linear(z, p + "conv_pw2"), g.cut(y, 1 - TAPS, END, 0)

    # ── to the width of the language model ───────────────────────────────────────────────────
    def _projected(self, x: str) -> str:
        t = self._tower
        if "a.pre_encode.out.weight" in t:
            x = self._biased(self._linear(x, "a.pre_encode.out"), "a.pre_encode.out")
        width = t.get("mm.a.input_projection.weight").shape[1]
        norm, ones = "mm.a.soft_emb_norm.weight", np.ones(width, np.float32)
        x = self._graph.rms_norm(x, t.get(norm) if norm in t else ones, EPSILON)
        return self._linear(x, "mm.a.input_projection")

    # ── parts of all of them ─────────────────────────────────────────────────────────────────
    def _linear(self, x: str, name: str) -> str:
        """A matrix product; input and output are clipped if the file has limits for them."""
        g, t = self._graph, self._tower
        clamp = t.clamp(name + ".weight")
        if clamp is not None:
            x = g.clip(x, *clamp[:2])
        # The matrices outside the layers stay exact: they cost little, and their error would
        # affect every token.
        y = g.product(x, t.get(name + ".weight"), exact=not name.startswith("a.blk."))
        return y if clamp is None else g.clip(y, *clamp[2:])

    def _biased(self, x: str, name: str) -> str:
        if name + ".bias" not in self._tower:
            return x
        return self._graph.add(x, self._graph.constant(self._tower.get(name + ".bias").reshape(-1)))

    def _norm(self, x: str, name: str, factor: float = 1.0) -> str:
        weight = np.float32(factor) * self._tower.get(name + ".weight")
        return self._graph.rms_norm(x, weight, EPSILON)

    def _dimension_scales(self, name: str, factor: float) -> str:
        weight = self._tower.get(name + ".weight") * factor
        return self._graph.constant(weight.astype(np.float32))

    def _range(self, times: int, more: int = 0) -> str:
        """0 … times · n + more - 1."""
        g = self._graph
        end = g.add(g.multiply(self._count, g.ints(times)), g.ints(more))
        first, step = (g.constant(np.array(value, np.int64)) for value in (0, 1))
        return g.op("Range", first, g.op("Squeeze", end), step)

    def _attention_mask(self) -> str:
        """[n, 11 + n]: 0 for a token and the `seen` of the 11 before it; HIDDEN for others."""
        g = self._graph
        row, column = (
            g.reshape(self._range(1), -1, 1),
            g.reshape(self._range(1, PAST_TOKENS), 1, -1),
        )
        distance = g.op("Sub", column, row)
        in_window = g.op(
            "And",
            g.op("GreaterOrEqual", distance, g.ints(0)),
            g.op("LessOrEqual", distance, g.ints(PAST_TOKENS)),
        )
        empty = g.op("Sub", g.ints(PAST_TOKENS), "seen")
        visible = g.op("And", in_window, g.op("GreaterOrEqual", column, empty))
        return g.op("Where", visible, g.scalar(0.0), g.scalar(HIDDEN))
