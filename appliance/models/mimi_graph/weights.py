"""Mimi's decoder in a safetensors file: its dimensions, and its tensors with the shape they must
have.

In: the file that transformers' MimiModel reads (kyutai/mimi on Hugging Face: model.safetensors). It
holds an encoder, too, and 24 codebooks more than the eight that speech is made of: these are not
read. A tensor of the decoder that nobody asked for is named at the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from appliance.errors import ModelError
from appliance.models.mimi_graph.safetensors import REMEDY, SafeTensors, Weights

BOOKS = 8  # of 32: what Moshi, and with it a speech head, emits
SEMANTIC_BOOKS = 1  # the first; it has a projection of its own
# What the file does not say; config.json beside it does.
HEADS = 8
CONTEXT = 250  # positions that attention sees, its own included: 10 s at 25 a second
ROPE_BASE = 10_000.0
EPSILON = 1e-5  # of the norms
LEAST_USAGE = 1e-5  # of a code, where its row is a sum divided by how often it was used
FRAMES_PER_S = 12.5
POSITIONS = 2  # of the transformer for a frame
FIRST_TAPS, BLOCK_TAPS, LAST_TAPS = 7, 3, 3  # kernels of the convolutions

_DECODER = ("decoder.", "decoder_transformer.", "upsample.")
_RVQ = "quantizer.{}_residual_vector_quantizer."


class MimiWeights:
    """`file`: the file at `path`, open. Raises ModelError for what is no Mimi, OSError."""

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
        """The transposed convolution of a stage; the residual block is the layer behind it."""
        return f"decoder.layers.{3 * number + 2}.conv"

    @staticmethod
    def block(number: int) -> str:
        return f"decoder.layers.{3 * number + 3}.block"

    @property
    def last(self) -> str:
        """The last convolution: behind the stages, and an activation between."""
        return f"decoder.layers.{3 * self.stages + 2}.conv"

    def get(self, name: str, *shape: int) -> Weights:
        """The tensor of that name and shape. Raises ModelError, OSError."""
        found = self._tensors.shape(name)
        if found != shape:
            problem = f"{self._path}: {name} has the shape {list(found)} instead of {list(shape)}."
            raise ModelError(problem, REMEDY)
        self._used.add(name)
        return self._tensors.get(name)

    def book(self, number: int) -> Weights:
        """A codebook, a row for each code: [codes, code_width]."""
        semantic = number < SEMANTIC_BOOKS
        name = _RVQ.format("semantic" if semantic else "acoustic")
        name += _table(number if semantic else number - SEMANTIC_BOOKS)
        total = self.get(name + ".embed_sum", self.codes, self.code_width)
        usage = self.get(name + ".cluster_usage", self.codes)
        return (total / np.maximum(usage, LEAST_USAGE)[:, None]).astype(np.float32)

    def projection(self, kind: str) -> Weights:
        """From the sum of the `semantic` or `acoustic` rows: [width, code_width]."""
        name = _RVQ.format(kind) + "output_proj.weight"
        return self.get(name, self.width, self.code_width, 1)[:, :, 0]

    def check_all_used(self) -> None:
        """Raises ModelError where the decoder has a tensor that is not in the graph."""
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
        """How many there are without a gap; at least one, or ModelError."""
        count = 0
        while pattern.format(first + step * count) in self._tensors:
            count += 1
        if not count:
            self._tensors.shape(pattern.format(first))
        return count

    def _ratio(self, name: str) -> int:
        """Of a transposed convolution, whose kernel is two strides long."""
        taps = self._lengths(name + ".weight", 3)[2]
        if taps % 2:
            raise ModelError(f"{self._path}: {name} has an odd number of taps.", REMEDY)
        return taps // 2


def _table(number: int) -> str:
    return f"layers.{number}.codebook"
