"""The audio encoder in a GGUF: its dimensions, and its tensors as float32, one at a time.

In: a GGUF for llama.cpp's mtmd with the projector "gemma4a". Out: the dimensions and weights of the
graph. `check_all_used` reports a tensor that was not read, as llama.cpp may compute with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.models.audio_part import AUDIO, GgufTensor, numbers, read_head

Weights = npt.NDArray[np.float32]
Clamp = tuple[float, float, float, float]  # minimum and maximum of the input, then of the output

PROJECTOR = "gemma4a"
EPSILON = 1e-6  # of all norms; a constant in llama.cpp's graph
PAST_TOKENS = 11  # earlier tokens that a token attends to (llama.cpp masks the twelfth)
TAPS = 5  # of the depthwise convolution over time, which is causal
_KEYS = "clip.audio."
_CLAMPS = (".input_min", ".input_max", ".output_min", ".output_max")
_NO_LIMIT = float(np.finfo(np.float32).max)


class AudioTower:
    """Reads the encoder. `file`: the GGUF at `path`, open. Raises ModelError for another kind."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        head = read_head(path)
        self._path, self._file = path, file
        self._keys = head.keys
        self._tensors = {t.name: t for t in head.tensors if t.name.startswith(AUDIO)}
        self._used: set[str] = set()
        projector = head.keys.get(_KEYS + "projector_type", ("none",))[0]
        if projector != PROJECTOR:
            raise ModelError(f"{path} has an audio encoder of the kind {projector}.")
        self.width = self._size("embedding_length")
        self.heads = self._size("attention.head_count")
        self.layers = self._size("block_count")
        self.bands = self._size("num_mel_bins")
        if self.width % self.heads or self.bands % 4:
            raise ModelError(f"{path} has an audio encoder of an unknown shape.")
        self.head = self.width // self.heads
        self.channels = self._known("a.conv1d.0.weight").shape[0]
        self.out = self._known("mm.a.input_projection.weight").shape[0]

    @property
    def numbers(self) -> int:
        """Number of weights in all tensors."""
        return sum(int(np.prod(tensor.shape)) for tensor in self._tensors.values())

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def get(self, name: str) -> Weights:
        """Read the tensor of that name, outermost dimension first. Raises ModelError, OSError."""
        tensor = self._known(name)
        self._used.add(name)
        values = numbers(tensor, tensor.read(self._file))
        if not np.isfinite(values).all():
            raise ModelError(f"{self._path}: {name} holds values that are no numbers.")
        return values.reshape(tensor.shape)

    def clamp(self, weight: str) -> Clamp | None:
        """Limits to which input and output of a matrix product are clipped; None if there are
        none."""
        stem = weight.removesuffix(".weight")
        sides = tuple(zip(_CLAMPS, (-1, 1, -1, 1), strict=True))
        if not any(stem + side in self for side, _ in sides):
            return None
        least, most, out_least, out_most = (
            float(self.get(stem + side).reshape(-1)[0]) if stem + side in self else sign * _NO_LIMIT
            for side, sign in sides
        )
        return least, most, out_least, out_most

    def relative_keys(self, layer: int) -> Weights:
        """Relative-position keys for the distances 11 … 0: [12, heads, head].

        Sinusoids of the distance, multiplied by a matrix of the layer: constant for given weights.
        """
        half = self.width // 2
        rates = np.exp(-np.arange(half) * (np.log(10_000.0) / max(half - 1, 1)))
        angles = np.arange(PAST_TOKENS, -1, -1)[:, None] * rates
        sinusoids = np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
        keys = sinusoids @ self.get(f"a.blk.{layer}.attn_k_rel.weight").T
        return keys.reshape(PAST_TOKENS + 1, self.heads, self.head)

    def check_all_used(self) -> None:
        """Raise ModelError if the file has a tensor that the graph does not use, since llama.cpp
        may compute with it."""
        unused = sorted(self._tensors.keys() - self._used)
        unused = [name for name in unused if not name.endswith(_CLAMPS)]  # limits may be unused
        if unused:
            raise ModelError(f"{self._path}: {unused[0]} has no place in the streaming encoder.")

    def _known(self, name: str) -> GgufTensor:
        if name not in self._tensors:
            raise ModelError(f"{self._path} has no tensor {name}.")
        return self._tensors[name]

    def _size(self, key: str) -> int:
        value = self._keys.get(_KEYS + key, (0,))[0]
        if not (isinstance(value, int) and 0 < value <= 65_536):
            raise ModelError(f"{self._path}: {_KEYS}{key} is not a valid size.")
        return value
