"""Lists the tensors of a Gemma 4: names, shapes and number formats for llama.cpp. Pure.

In: the sizes of a model. Out: a row for each tensor of its text file, and of its audio encoder's.
Sizes and formats of E2B are those of published Q4_K_M files. In such a file the matrices `attn_v`
and `ffn_down` of some layers have 6 bits (`use_more_bits` in llama.cpp's quantiser).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Format = Literal["F32", "F16", "BF16", "Q4_K", "Q5_K", "Q6_K"]
Fill = Literal["random", "ones", "zeros", "half", "rope", "forty", "minus forty"]

# For each format: numbers in a block, and bytes of a block (ggml-common.h).
BLOCKS: dict[Format, tuple[int, int]] = {
    "F32": (1, 4), "F16": (1, 2), "BF16": (1, 2),
    "Q4_K": (256, 144), "Q5_K": (256, 176), "Q6_K": (256, 210),
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file. `shape`: the outermost dimension first. `fill`: its values."""

    name: str
    shape: tuple[int, ...]
    format: Format = "F32"
    fill: Fill = "random"

    @property
    def row_bytes(self) -> int:
        numbers, bytes_ = BLOCKS[self.format]
        return self.shape[-1] // numbers * bytes_

    @property
    def rows(self) -> int:
        count = 1
        for length in self.shape[:-1]:
            count *= length
        return count


@dataclass(frozen=True)
class Shape:
    """Sizes of a text model and of its audio encoder.

    The last `shared` layers reuse keys and values of earlier layers and have twice the inner width.
    Each `period`-th layer has global attention, the others a window of `window` tokens.
    `encoder_…`: sizes of the audio encoder; `mels`: its mel bands; `channels`: output channels of
    its two convolutions.
    """

    layers: int = 35
    shared: int = 20
    period: int = 5
    window: int = 512
    width: int = 1536
    heads: int = 8
    head_window: int = 256
    head_full: int = 512
    inner: int = 6144
    per_layer: int = 256
    vocabulary: int = 262_144
    context: int = 131_072
    encoder_layers: int = 12
    encoder_width: int = 1024
    encoder_heads: int = 8
    encoder_inner: int = 4096
    encoder_out: int = 1536
    mels: int = 128
    channels: tuple[int, int] = (128, 32)

    def has_window(self, layer: int) -> bool:
        return (layer + 1) % self.period != 0

    def inner_of(self, layer: int) -> int:
        return self.inner if layer < self.layers - self.shared else 2 * self.inner


E2B = Shape()


def text_tensors(shape: Shape) -> Iterator[Tensor]:
    """The tensors of the text model."""
    width, per_layer = shape.width, shape.per_layer
    all_layers = per_layer * shape.layers
    yield Tensor("token_embd.weight", (shape.vocabulary, width), "Q6_K")
    yield Tensor("per_layer_token_embd.weight", (shape.vocabulary, all_layers), "Q5_K")
    yield Tensor("per_layer_model_proj.weight", (all_layers, width), "BF16")
    yield Tensor("per_layer_proj_norm.weight", (per_layer,), fill="ones")
    yield Tensor("output_norm.weight", (width,), fill="ones")
    yield Tensor("rope_freqs.weight", (shape.head_full // 2,), fill="rope")
    for layer in range(shape.layers):
        head = shape.head_window if shape.has_window(layer) else shape.head_full
        inner = shape.inner_of(layer)
        finer: Format = "Q6_K" if _more_bits(layer, shape.layers) else "Q4_K"
        for name, size, format_ in (
            ("attn_q", (shape.heads * head, width), "Q4_K"),
            ("attn_k", (head, width), "Q4_K"),
            ("attn_v", (head, width), finer),
            ("attn_output", (width, shape.heads * head), "Q4_K"),
            ("ffn_gate", (inner, width), "Q4_K"),
            ("ffn_up", (inner, width), "Q4_K"),
            ("ffn_down", (width, inner), finer),
            ("inp_gate", (per_layer, width), "Q4_K"),
            ("proj", (width, per_layer), "Q4_K"),
        ):
            yield Tensor(f"blk.{layer}.{name}.weight", size, format_)  # type: ignore[arg-type]
        norms = ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_norm")
        for name in norms:
            yield Tensor(f"blk.{layer}.{name}.weight", (width,), fill="ones")
        for name in ("attn_q_norm", "attn_k_norm"):
            yield Tensor(f"blk.{layer}.{name}.weight", (head,), fill="ones")
        yield Tensor(f"blk.{layer}.layer_output_scale.weight", (1,), fill="half")


def audio_tensors(shape: Shape) -> Iterator[Tensor]:
    """The tensors of the audio encoder, a conformer; matrices in F16, as in the box's files."""
    width, inner = shape.encoder_width, shape.encoder_inner
    first, second = shape.channels
    yield Tensor("a.conv1d.0.weight", (first, 1, 3, 3))
    yield Tensor("a.conv1d.0.norm.weight", (first,), fill="ones")
    yield Tensor("a.conv1d.1.weight", (second, first, 3, 3))
    yield Tensor("a.conv1d.1.norm.weight", (second,), fill="ones")
    yield Tensor("a.input_projection.weight", (width, shape.mels // 4 * second), "F16")
    for layer in range(shape.encoder_layers):
        for name, size in {
            **{f"ffn_up{t}": (inner, width) for t in ("", "_1")},
            **{f"ffn_down{t}": (width, inner) for t in ("", "_1")},
            **{f"attn_{n}": (width, width) for n in ("q", "k", "v", "out")},
            "conv_pw1": (2 * width, width),
            "conv_pw2": (width, width),
        }.items():
            yield Tensor(f"a.blk.{layer}.{name}.weight", size, "F16")
            for bound in ("input", "output"):  # limits to which the real encoder clips
                yield Tensor(f"a.blk.{layer}.{name}.{bound}_min", (1,), fill="minus forty")
                yield Tensor(f"a.blk.{layer}.{name}.{bound}_max", (1,), fill="forty")
        yield Tensor(f"a.blk.{layer}.attn_k_rel.weight", (width, width), "F16")
        yield Tensor(f"a.blk.{layer}.conv_dw.weight", (width, 5))
        yield Tensor(f"a.blk.{layer}.per_dim_scale.weight",
                     (width // shape.encoder_heads,), fill="ones")  # fmt: skip
        for name in (
            "ffn_norm", "ffn_norm_1", "ffn_post_norm", "ffn_post_norm_1", "attn_pre_norm",
            "attn_post_norm", "norm_conv", "conv_norm", "ln2",
        ):  # fmt: skip
            yield Tensor(f"a.blk.{layer}.{name}.weight", (width,), fill="ones")
    yield Tensor("a.pre_encode.out.weight", (shape.encoder_out, width), "F16")
    yield Tensor("a.pre_encode.out.bias", (shape.encoder_out,), fill="zeros")
    yield Tensor("mm.a.input_projection.weight", (shape.width, shape.encoder_out), "F16")


def bytes_of(tensors: Iterator[Tensor]) -> int:
    """The size in bytes of all tensors."""
    return sum(tensor.rows * tensor.row_bytes for tensor in tensors)


def _more_bits(layer: int, layers: int) -> bool:
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2
