"""Writes a file of Mimi's size and layout with random weights: it costs as much as the real one."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

WIDTH, INNER, LAYERS = 512, 2048, 8  # of the transformer
CODES, CODE_WIDTH, BOOKS = 2048, 256, 8
CHANNELS, RATIOS = 1024, (8, 6, 5, 4)  # of SEANet, which halves its channels with every ratio

Shape = tuple[int, ...]


def tensors() -> Iterator[tuple[str, Shape]]:
    """The decoder's tensors by name; the real file also has the encoder and 24 more codebooks."""
    for number in range(BOOKS):
        kind, layer = ("semantic", 0) if number == 0 else ("acoustic", number - 1)
        name = f"quantizer.{kind}_residual_vector_quantizer."
        if layer == 0:
            yield name + "output_proj.weight", (WIDTH, CODE_WIDTH, 1)
        yield f"{name}layers.{layer}.codebook.embed_sum", (CODES, CODE_WIDTH)
        yield f"{name}layers.{layer}.codebook.cluster_usage", (CODES,)
    yield "upsample.conv.weight", (WIDTH, 1, 4)
    for layer in range(LAYERS):
        name = f"decoder_transformer.layers.{layer}."
        for part in "qkvo":
            yield f"{name}self_attn.{part}_proj.weight", (WIDTH, WIDTH)
        yield name + "mlp.fc1.weight", (INNER, WIDTH)
        yield name + "mlp.fc2.weight", (WIDTH, INNER)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"{name}{norm}.weight", (WIDTH,)
            yield f"{name}{norm}.bias", (WIDTH,)
        for scale in ("self_attn_layer_scale", "mlp_layer_scale"):
            yield f"{name}{scale}.scale", (WIDTH,)
    yield from _seanet()


def _seanet() -> Iterator[tuple[str, Shape]]:
    channels = CHANNELS
    yield from _convolution("decoder.layers.0.conv", channels, (channels, WIDTH, 7))
    for number, ratio in enumerate(RATIOS):
        half, layer = channels // 2, f"decoder.layers.{3 * number + 2}.conv"
        yield from _convolution(layer, half, (channels, half, 2 * ratio))
        channels, block = half, f"decoder.layers.{3 * number + 3}.block."
        yield from _convolution(block + "1.conv", channels // 2, (channels // 2, channels, 3))
        yield from _convolution(block + "3.conv", channels, (channels, channels // 2, 1))
    yield from _convolution(f"decoder.layers.{3 * len(RATIOS) + 2}.conv", 1, (1, channels, 3))


def _convolution(name: str, out: int, shape: Shape) -> Iterator[tuple[str, Shape]]:
    yield name + ".weight", shape
    yield name + ".bias", (out,)


def write(path: Path, seed: int) -> None:
    """Write the file: 173 MB. Raises OSError."""
    rng = np.random.default_rng(seed)
    entries, end = {}, 0
    for name, shape in tensors():
        first, end = end, end + 4 * math.prod(shape)
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": (first, end)}
    header = json.dumps(entries).encode()
    with path.open("wb") as target:
        target.write(struct.pack("<Q", len(header)) + header)
        for name, shape in tensors():
            inputs = math.prod(shape) // max(shape[0], 1) if len(shape) > 1 else 1
            values = rng.standard_normal(shape, np.float32) / np.float32(math.sqrt(inputs))
            if name.endswith("cluster_usage"):
                values = np.abs(values) + 1
            target.write(values.astype("<f4").tobytes())
