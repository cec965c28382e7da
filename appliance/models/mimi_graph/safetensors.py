"""Reads tensors of a safetensors file as float32, one at a time, and validates its header.

The format (https://github.com/huggingface/safetensors): eight bytes with the header's length, the
header in JSON (name → type, shape, first byte and the one after the last), and the bytes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError

Weights = npt.NDArray[np.float32]

REMEDY = "Fetch it again: `interlude models fetch mimi`."
_METADATA = "__metadata__"
_MOST_HEADER_BYTES = 1 << 20  # Mimi's has 44 kB
_MOST_DIMENSIONS = 8
_BYTES = {"F32": 4, "F16": 2, "BF16": 2}

_Length = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    dtype: Literal["F32", "F16", "BF16"]
    shape: Annotated[tuple[_Length, ...], msgspec.Meta(max_length=_MOST_DIMENSIONS)]
    data_offsets: tuple[_Length, _Length]


class SafeTensors:
    """Reads the header. `file`: the file at `path`, open. Raises ModelError for an invalid file,
    OSError."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        size = path.stat().st_size
        head = file.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
        if not 2 <= length <= min(_MOST_HEADER_BYTES, size - 8):
            raise ModelError(f"{path} is no safetensors file.", REMEDY)
        self._data = 8 + length
        try:
            raw = msgspec.json.decode(file.read(length), type=dict[str, msgspec.Raw])
            self._entries = {
                name: msgspec.json.decode(entry, type=_Entry)
                for name, entry in raw.items()
                if name != _METADATA
            }
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ModelError(f"{path}: its header is damaged ({error}).", REMEDY) from error
        for name, entry in self._entries.items():
            first, end = entry.data_offsets
            if end - first != math.prod(entry.shape) * _BYTES[entry.dtype]:
                raise ModelError(f"{path}: the size of {name} does not match its shape.", REMEDY)
            if self._data + end > size:
                raise ModelError(f"{path} is cut off: it ends before {name} does.", REMEDY)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor. Raises ModelError if there is none of that name."""
        if name not in self._entries:
            raise ModelError(f"{self._path} has no tensor {name}.", REMEDY)
        return self._entries[name].shape

    def get(self, name: str) -> Weights:
        """Read the tensor of that name. Raises ModelError, also for values that are not finite,
        OSError."""
        shape, entry = self.shape(name), self._entries[name]
        first, end = entry.data_offsets
        self._file.seek(self._data + first)
        data = self._file.read(end - first)
        if len(data) != end - first:
            raise ModelError(f"{self._path} is cut off: it ends before {name} does.", REMEDY)
        if entry.dtype == "BF16":  # the upper half of a float32
            values = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(data, "<f4" if entry.dtype == "F32" else "<f2")
        if not np.isfinite(values).all():
            raise ModelError(f"{self._path}: {name} holds values that are no numbers.", REMEDY)
        return values.astype(np.float32).reshape(shape)
