"""The text network: a Gemma 4 decoder, small.

In: rows [sequences, positions, width] (word embeddings, or soft tokens from audio_encoder.py)
and the ids beside them. Out: logits over the vocabulary. It has all features of Gemma 4:
per-layer embeddings, layers that share the keys and values of earlier ones, sliding and full
attention of different head widths, partly rotated full layers, normalised queries, keys and
values, a scale per layer and capped logits.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.pocket.audio_encoder import Norm, linear, rms_norm

KeysValues = dict[bool, tuple[Tensor, Tensor]]  # of the last sliding and the last full layer
PAD_ID = 0  # llama.cpp gives soft tokens the per-layer embedding of this id


@dataclass(frozen=True)
class TextDecoderConfig:
    vocabulary: int = 4096
    width: int = 128
    layers: int = 6  # sliding, full, sliding, full, sliding, full
    shared: int = 2  # the last two reuse keys and values of layers 2 and 3
    heads: int = 4  # one key/value head
    head_sliding: int = 32
    head_full: int = 64
    inner: int = 256  # twice as wide in the shared layers
    per_layer: int = 32
    window: int = 128  # positions that a sliding layer attends to, its own included
    rope_sliding: float = 10_000.0
    rope_full: float = 1_000_000.0
    rotated: float = 0.25  # of a full layer's head
    cap: float = 30.0

    def is_sliding(self, layer: int) -> bool:
        return layer % 2 == 0

    def head(self, layer: int) -> int:
        return self.head_sliding if self.is_sliding(layer) else self.head_full

    def has_keys(self, layer: int) -> bool:
        return layer < self.layers - self.shared

    def inner_width(self, layer: int) -> int:
        return self.inner if self.has_keys(layer) else 2 * self.inner


def rotation_rates(c: TextDecoderConfig, layer: int) -> Tensor:
    """Radians per position of each pair of a head; unrotated pairs have 0."""
    half = c.head(layer) // 2
    base = c.rope_sliding if c.is_sliding(layer) else c.rope_full
    rates = base ** (-torch.arange(half) / half)
    if not c.is_sliding(layer):
        rates[int(c.head_full * c.rotated / 2) :] = 0.0
    return rates


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x [..., positions, head]: pairs are (i, i + head/2)."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Layer(nn.Module):
    def __init__(self, c: TextDecoderConfig, layer: int) -> None:
        super().__init__()
        self.heads, self.head = c.heads, c.head(layer)
        self.sliding, self.has_keys = c.is_sliding(layer), c.has_keys(layer)
        self.norm, self.post_norm = Norm(c.width), Norm(c.width)
        self.q, self.out = (
            linear(c.width, c.heads * self.head),
            linear(c.heads * self.head, c.width),
        )
        start = self.head**-0.25  # the graph does not scale q.k: so its initial spread is 1
        self.q_norm = Norm(self.head, start)
        if self.has_keys:
            self.k, self.v = linear(c.width, self.head), linear(c.width, self.head)
            self.k_norm = Norm(self.head, start)
        inner = c.inner_width(layer)
        self.gate, self.up, self.down = (
            linear(c.width, inner),
            linear(c.width, inner),
            linear(inner, c.width),
        )
        self.inner_norm, self.inner_post_norm = Norm(c.width), Norm(c.width)
        self.word_gate, self.word_out = linear(c.width, c.per_layer), linear(c.per_layer, c.width)
        self.word_norm = Norm(c.width)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("rates", rotation_rates(c, layer), persistent=False)

    def forward(
        self, x: Tensor, word: Tensor, positions: Tensor, visible: Tensor, keys_values: KeysValues
    ) -> Tensor:
        """x at positions [sequences or 1, length]; word [..., per_layer]: this layer's slice of the
        per-layer embedding; visible [sequences or 1, 1, length, keys]."""
        n, length, _ = x.shape
        y = self.norm(x)
        angle = positions[:, None, :, None] * self.rates
        cos, sin = angle.cos(), angle.sin()
        q = self.q_norm(self.q(y).view(n, length, self.heads, self.head)).transpose(1, 2)
        q = rotate(q, cos, sin)
        if self.has_keys:
            k = rotate(self.k_norm(self.k(y))[:, None], cos, sin)
            keys_values[self.sliding] = k, rms_norm(self.v(y))[:, None]
        k, v = (t.expand(-1, self.heads, -1, -1) for t in keys_values[self.sliding])
        y = F.scaled_dot_product_attention(q, k, v, visible, scale=1.0).transpose(1, 2).flatten(2)
        x = x + self.post_norm(self.out(y))
        y = self.inner_norm(x)
        y = self.down(F.gelu(self.gate(y), approximate="tanh") * self.up(y))
        x = x + self.inner_post_norm(y)
        y = self.word_out(F.gelu(self.word_gate(x), approximate="tanh") * word)
        return (x + self.word_norm(y)) * self.scale


class TextDecoder(nn.Module):
    def __init__(self, c: TextDecoderConfig) -> None:
        super().__init__()
        self.config = c
        self.words = nn.Embedding(c.vocabulary, c.width)
        self.layer_words = nn.Embedding(c.vocabulary, c.layers * c.per_layer)
        nn.init.normal_(self.words.weight, std=c.width**-0.5)
        nn.init.normal_(self.layer_words.weight, std=c.per_layer**-0.5)
        self.layer_project = linear(c.width, c.layers * c.per_layer)
        self.layer_norm = Norm(c.per_layer)
        self.layers = nn.ModuleList(Layer(c, i) for i in range(c.layers))
        self.norm = Norm(c.width)

    def embed(self, ids: Tensor) -> Tensor:
        return self.words(ids) * math.sqrt(self.config.width)

    def forward(self, rows: Tensor, ids: Tensor, wanted: Tensor | None = None) -> Tensor:
        """The final states. ids is PAD_ID wherever rows has a soft token; padding is on the right.

        wanted [sequences, some], if given, are the only positions to return. The layers that share
        keys make none for later positions, so they compute only these.
        """
        c = self.config
        shape = (*ids.shape, c.layers, c.per_layer)
        projected = self.layer_norm((self.layer_project(rows) * c.width**-0.5).view(shape))
        # a word's own per-layer embedding, mixed with the projection of its row
        word = (projected + self.layer_words(ids).view(shape) * math.sqrt(c.per_layer)) * 0.5**0.5
        x, keys = rows, torch.arange(ids.shape[1])[None]
        keys_values: KeysValues = {}
        positions = keys
        for i, layer in enumerate(self.layers):
            if wanted is not None and i == c.layers - c.shared:
                positions, one = wanted, torch.arange(len(wanted))[:, None]
                x, word = x[one, wanted], word[one, wanted]
            behind = positions[:, :, None] - keys[:, None]
            visible = (behind >= 0) & (behind < (c.window if layer.sliding else ids.shape[1]))
            x = layer(x, word[:, :, i], positions, visible[:, None], keys_values)
        return self.norm(x)

    def logits(self, states: Tensor) -> Tensor:
        cap = self.config.cap
        return cap * torch.tanh(F.linear(states, self.words.weight) / cap)
