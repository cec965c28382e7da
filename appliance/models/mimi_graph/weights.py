"""Mimi's decoder in a safetensors file: its dimensions, and its tensors with checked shapes.

In: the file that transformers' MimiModel reads (kyutai/mimi on Hugging Face: model.safetensors). It
also has an encoder, and 24 codebooks besides the eight used for speech; these are not read.
`check_all_used` reports a tensor of the decoder that was not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from appliance.errors import ModelError
from appliance.models.mimi_graph.safetensors import REMEDY, SafeTensors, Weights

BOOKS = 8  # of 32: the codebooks for which Moshi, and the speech head, emit codes
SEMANTIC_BOOKS = 1  # the first; it has a projection of its own
# These values are not in the file; they are from config.json beside it.
HEADS = 8
CONTEXT = 250  # positions that attention sees, its own included: 10 s at 25 a second
ROPE_BASE = 10_000.0
EPSILON = 1e-5  # of the norms
LEAST_USAGE = 1e-5  # lower limit of a code's usage count, by which its summed row is divided
FRAMES_PER_S = 12.5
POSITIONS = 2  # of the transformer per frame
FIRST_TAPS, BLOCK_TAPS, LAST_TAPS = 7, 3, 3  # kernels of the convolutions

_DECODER = ("decoder.", "decoder_transformer.", "upsample.")
_RVQ = "quantizer.{}_residual_vector_quantizer."


class MimiWeights:
    """Reads the dimensions. `file`: the file at `path`, open. Raises ModelError if it is not Mimi,
    OSError."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._tensors = path, SafeTensors(path, file)
        self._used: set[str] = set()
        self.width = self._lengths("upsample.conv.weight", 3)[0]
        table = _RVQ.format("semantic") + _table(0) + ".embed_sum"
        self.codes, self.code_width = self._lengths(table, 2)
        self.layers = self._count("decoder_transformer.layers.{}.self_attn.q_proj.weight")
        self.inner = self._lengths("decoder_transformer.layers.0.mlp.fc1.weight", 2)[0]
        self.channels = self._lengths("decoder.layers.0.conv.weight", 3)[0]
        self.stages = self._count("decoder.layers.{}.conv.weight", first=2, step=3) - 1
        self.ratios = tuple(self._ratio(self.stage(number)) for number in range(self.stages))
        if self.width % (2 * HEADS) or self.channels % 2**self.stages or not self.stages:
            raise ModelError(f"{path} holds a codec of an unknown shape.", REMEDY)
        self.frame_samples = POSITIONS * int(np.prod(self.ratios))

    @property
    def head(self) -> int:
        return self.width // HEADS

    @staticmethod
    def stage(number: int) -> str:
        """Name of a stage's transposed convolution; its residual block is the next layer."""
        return f"decoder.layers.{3 * number + 2}.conv"

    @staticmethod
    def block(number: int) -> str:
        return f"decoder.layers.{3 * number + 3}.block"

    @property
    def last(self) -> str:
        """Name of the last convolution, after the stages and an activation."""
        return f"decoder.layers.{3 * self.stages + 2}.conv"

    def get(self, name: str, *shape: int) -> Weights:
        """Read the tensor of that name. Raises ModelError if it has another shape, OSError."""
        found = self._tensors.shape(name)
        if found != shape:
            problem = f"{self._path}: {name} has the shape {list(found)} instead of {list(shape)}."
            raise ModelError(problem, REMEDY)
        self._used.add(name)
        return self._tensors.get(name)

    def book(self, number: int) -> Weights:
        """A codebook with a row for each code: [codes, code_width]."""
        semantic = number < SEMANTIC_BOOKS
        name = _RVQ.format("semantic" if semantic else "acoustic")
        name += _table(number if semantic else number - SEMANTIC_BOOKS)
        total = self.get(name + ".embed_sum", self.codes, self.code_width)
        usage = self.get(name + ".cluster_usage", self.codes)
        return (total / np.maximum(usage, LEAST_USAGE)[:, None]).astype(np.float32)

    def projection(self, kind: str) -> Weights:
        """Projection of the sum of the `semantic` or `acoustic` rows: [width, code_width]."""
        name = _RVQ.format(kind) + "output_proj.weight"
        return self.get(name, self.width, self.code_width, 1)[:, :, 0]

    def check_all_used(self) -> None:
        """Raise ModelError if the decoder has a tensor that is not in the graph."""
        for name in sorted(self._tensors):
            if name.startswith(_DECODER) and name not in self._used:
                problem = f"{self._path}: {name} has no place in Mimi's decoder."
                raise ModelError(problem, REMEDY)

    def _lengths(self, name: str, dimensions: int) -> tuple[int, ...]:
        shape = self._tensors.shape(name)
        if len(shape) != dimensions or 0 in shape:
            problem = f"{self._path}: {name} has the shape {list(shape)}."
            raise ModelError(problem, REMEDY)
        return shape

    def _count(self, pattern: str, first: int = 0, step: int = 1) -> int:
        """Count consecutive tensors of a pattern. Raises ModelError if there is none."""
        count = 0
        while pattern.format(first + step * count) in self._tensors:
            count += 1
        if not count:
            self._tensors.shape(pattern.format(first))
        return count

    def _ratio(self, name: str) -> int:
        """Stride of a transposed convolution; its kernel is two strides long."""
        taps = self._lengths(name + ".weight", 3)[2]
        if taps % 2:
            raise ModelError(f"{self._path}: {name} has an odd number of taps.", REMEDY)
        return taps // 2


def _table(number: int) -> str:
    return f"layers.{number}.codebook"
