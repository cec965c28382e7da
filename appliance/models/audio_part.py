"""Extracts the audio encoder of a GGUF file into a file of its own. The only import of the gguf
package on a box.

In: a GGUF for llama.cpp's mtmd with an audio and perhaps a vision encoder, and the number format
wanted. Out: a copy without the vision encoder. After writing, it is compared with its source tensor
by tensor. Only one tensor is in memory at a time, whatever the size of the files.

F16   tensors in F16 or F32 are copied bit for bit. BF16, for which a Cortex-A76 has no
      instructions, becomes F16: exact except for values below 6e-5, which are rounded to 3e-8.
Q8_0  matrices become blocks of 32 eight-bit numbers with a common scale.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import gguf
import numpy as np
import numpy.typing as npt
from gguf.quants import dequantize, quantize

from appliance.errors import ModelError, StorageError
from appliance.models.catalogue import Form

AUDIO = ("a.", "mm.a.")  # prefixes of the names of the audio encoder's tensors
VISION_KEYS = "clip.vision."
HAS_AUDIO, HAS_VISION = "clip.has_audio_encoder", "clip.has_vision_encoder"
FILE_TYPE = "general.file_type"
BLOCK = 32  # numbers with a common scale in Q8_0
LEAST_F16 = 2.0**-24  # the step of F16 near zero

Types = gguf.GGMLQuantizationType
_WIDE = (Types.BF16, Types.F16)
_FILE_TYPES = {
    "f16": gguf.LlamaFileType.MOSTLY_F16,
    "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0,
}


@dataclass(frozen=True)
class GgufTensor:
    """One tensor of a GGUF: offset and size in bytes, and its shape, outermost dimension first."""

    name: str
    kind: Any  # GGMLQuantizationType
    shape: tuple[int, ...]
    at: int
    size: int

    def read(self, file: IO[bytes]) -> npt.NDArray[np.uint8]:
        """Read the tensor's bytes. Raises OSError, also for a file that is too short."""
        file.seek(self.at)
        data = file.read(self.size)
        if len(data) != self.size:
            raise OSError(f"{self.name} is cut off")
        return np.frombuffer(data, np.uint8)


@dataclass(frozen=True)
class GgufHeader:
    """Header of a GGUF: for each key its value, type and item type of an array; and the tensors."""

    keys: dict[str, tuple[Any, Any, Any]]
    tensors: tuple[GgufTensor, ...]


def read_head(path: Path) -> GgufHeader:
    """Read the header of a GGUF file. Raises ModelError for a file of another format."""
    try:
        reader = gguf.GGUFReader(path)
        keys = {}
        for name, field in reader.fields.items():
            if not name.startswith("GGUF."):
                is_array = field.types[0] == gguf.GGUFValueType.ARRAY
                items = field.types[-1] if is_array else None
                keys[name] = (field.contents(), field.types[0], items)
        tensors = tuple(
            GgufTensor(
                t.name,
                t.tensor_type,
                tuple(int(n) for n in reversed(t.shape)),
                int(t.data_offset),
                int(t.n_bytes),
            )
            for t in reader.tensors
        )
    except (ValueError, KeyError, IndexError, OverflowError) as error:
        raise ModelError(f"{path} is not a GGUF file that can be read ({error}).") from error
    return GgufHeader(keys, tensors)


def size(source: Path) -> int:
    """Bytes of the audio encoder's tensors. Raises ModelError."""
    return sum(tensor.size for tensor in read_head(source).tensors if _is_audio(tensor))


def _is_audio(tensor: GgufTensor) -> bool:
    return tensor.name.startswith(AUDIO)


def write_audio_part(source: Path, target: Path, form: Form, step: Callable[[int], object]) -> None:
    """Write the audio part of `source` to `target`, flush it to the disk, and check it.

    `step` is called with the bytes of each tensor, when it is written and again when it is checked.
    Raises ModelError for a source without an audio encoder, StorageError for a copy that differs,
    and OSError. After an error the caller removes what is left of `target`.
    """
    head = read_head(source)
    keys, tensors = _selected(source, head, form)
    writer = gguf.GGUFWriter(target, "clip")
    for name, (value, kind, items) in keys.items():
        if name != "general.architecture":  # GGUFWriter writes it itself
            writer.add_key_value(name, value, kind, items)
    for tensor in tensors:
        new = _target_format(tensor, form)
        block, block_bytes = gguf.GGML_QUANT_SIZES[new]
        # For data passed as bytes, GGUFWriter expects the last dimension in bytes.
        shape = [*tensor.shape[:-1], tensor.shape[-1] // block * block_bytes]
        count = int(np.prod(shape))
        writer.add_tensor_info(tensor.name, shape, np.dtype(np.uint8), count, raw_dtype=new)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        (out,) = writer.fout or []
        writer.write_padding(out, out.tell())
        with source.open("rb") as file:
            for tensor in tensors:
                data = _converted(tensor, tensor.read(file), _target_format(tensor, form))
                out.write(data.data)  # the package's own method hides the error of a full disk
                writer.write_padding(out, data.nbytes)
                step(tensor.size)
        out.flush()
        os.fsync(out.fileno())
    finally:
        writer.close()
    _check(source, target, keys, tensors, form, step)


def _selected(
    source: Path, head: GgufHeader, form: Form
) -> tuple[dict[str, tuple[Any, Any, Any]], list[GgufTensor]]:
    """Return the keys, with their values for the copy, and the tensors that the copy contains."""
    if not (HAS_AUDIO in head.keys and head.keys[HAS_AUDIO][0]):
        raise ModelError(f"{source} holds no audio encoder.")
    keys = {name: key for name, key in head.keys.items() if not name.startswith(VISION_KEYS)}
    keys[HAS_VISION] = (False, gguf.GGUFValueType.BOOL, None)
    keys[FILE_TYPE] = (int(_FILE_TYPES[form]), gguf.GGUFValueType.UINT32, None)
    tensors = [tensor for tensor in head.tensors if _is_audio(tensor)]
    if not tensors:
        raise ModelError(f"{source} holds no audio encoder.")
    return keys, tensors


def _target_format(tensor: GgufTensor, form: Form) -> Any:
    """The format of a tensor in the copy."""
    if tensor.kind not in _WIDE:
        return tensor.kind
    is_matrix = len(tensor.shape) == 2 and tensor.shape[-1] % BLOCK == 0
    return Types.Q8_0 if form == "q8_0" and is_matrix else Types.F16


def _converted(tensor: GgufTensor, data: npt.NDArray[np.uint8], kind: Any) -> npt.NDArray[np.uint8]:
    if kind == tensor.kind:
        return data
    wide = numbers(tensor, data)
    if kind == Types.F16:
        with np.errstate(over="ignore"):  # `_check` finds values that overflow
            return np.ascontiguousarray(wide.astype(np.float16)).view(np.uint8).reshape(-1)
    narrow: npt.NDArray[np.uint8] = quantize(wide, kind)
    return np.ascontiguousarray(narrow).reshape(-1)


def numbers(tensor: GgufTensor, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Return a tensor's values, dequantised to float32."""
    block, block_bytes = gguf.GGML_QUANT_SIZES[tensor.kind]
    rows = data.reshape(*tensor.shape[:-1], tensor.shape[-1] // block * block_bytes)
    values: npt.NDArray[np.float32] = dequantize(rows, tensor.kind)
    return values.astype(np.float32, copy=False)


def _check(
    source: Path,
    target: Path,
    keys: dict[str, tuple[Any, Any, Any]],
    tensors: list[GgufTensor],
    form: Form,
    step: Callable[[int], object],
) -> None:
    """Compare the copy with its source. Raises StorageError if they differ."""
    copy = read_head(target)
    if copy.keys != keys:
        raise _differs(target, "its keys")
    written = {tensor.name: tensor for tensor in copy.tensors}
    if list(written) != [tensor.name for tensor in tensors]:
        raise _differs(target, "its tensors")
    with source.open("rb") as old, target.open("rb") as new:
        for tensor in tensors:
            copied = written[tensor.name]
            if copied.shape != tensor.shape or copied.kind != _target_format(tensor, form):
                raise _differs(target, f"shape or format of {tensor.name}")
            if not _equal_tensors(tensor, tensor.read(old), copied, copied.read(new)):
                raise _differs(target, tensor.name)
            step(tensor.size)


def _differs(target: Path, what: str) -> StorageError:
    problem = f"The copy {target} differs from its source: {what}."
    return StorageError(problem, "The disk may be failing: see `dmesg`, then fetch again.")


def _equal_tensors(
    tensor: GgufTensor,
    data: npt.NDArray[np.uint8],
    copied: GgufTensor,
    copied_data: npt.NDArray[np.uint8],
) -> bool:
    """Whether two tensors are equal within the rounding of the second one's format."""
    if tensor.kind == copied.kind:
        return bool(np.array_equal(data, copied_data))
    source_values, copied_values = numbers(tensor, data), numbers(copied, copied_data)
    if not np.isfinite(copied_values).all():
        return False
    if copied.kind == Types.F16:
        tolerance = np.maximum(np.abs(source_values) * 2.0**-11, LEAST_F16 / 2)  # half a step
    else:
        blocks = source_values.reshape(-1, BLOCK)
        scale = np.abs(blocks).max(axis=1, keepdims=True) / 127
        # Half a step, plus the rounding of the scale to F16, multiplied by up to 127.
        tolerance = (scale * (0.5 + 127 * 2.0**-11) + 128 * LEAST_F16).repeat(BLOCK, axis=1)
        tolerance = tolerance.reshape(source_values.shape)
    return bool((np.abs(source_values - copied_values) <= tolerance * (1 + 1e-5)).all())
