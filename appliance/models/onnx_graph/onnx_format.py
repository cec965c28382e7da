"""Encodes ONNX files without the onnx package: messages of onnx.proto in protobuf's wire format.

Pure. In: nodes, tensors and shapes. Out: bytes. Supports only what our graphs need. The field
numbers are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

IR_VERSION = 11  # the first with opset 23
OPSET = 23  # the first with RMSNormalization
Attribute = int | float | Sequence[int]
FLOAT, UINT8, INT8, INT64 = 1, 2, 3, 7  # TensorProto.DataType
_TYPES: dict[str, int] = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int64": INT64}
_EXTERNAL = 1  # TensorProto.DataLocation
_FLOAT_ATTRIBUTE, _INT_ATTRIBUTE, _INTS_ATTRIBUTE = 1, 2, 7  # AttributeProto.AttributeType

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class DataPlace:
    """Position of a tensor's bytes in the data file beside the graph."""

    file: str
    offset: int
    size: int


def node(
    kind: str,
    inputs: Iterable[str],
    outputs: Sequence[str],
    attributes: Mapping[str, Attribute],
) -> bytes:
    """NodeProto: an operator of the standard set, named after its first result."""
    parts = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs]
    parts += [_text(3, outputs[0]), _text(4, kind)]
    parts += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
    return b"".join(parts)


def tensor(name: str, array: Array, place: DataPlace | None = None) -> bytes:
    """TensorProto with the bytes of `array`, or with their position in the data file."""
    parts = [_number(1, length) for length in array.shape]
    parts += [_number(2, _TYPES[array.dtype.name]), _text(8, name)]
    if place is None:
        parts.append(_field(9, np.ascontiguousarray(array).tobytes()))
        return b"".join(parts)
    entries = {"location": place.file, "offset": str(place.offset), "length": str(place.size)}
    parts += [_field(13, _text(1, key) + _text(2, value)) for key, value in entries.items()]
    parts.append(_number(14, _EXTERNAL))
    return b"".join(parts)


def value_info(name: str, type_: int, shape: Iterable[int | str]) -> bytes:
    """ValueInfoProto: an input or output. A variable dimension is a name instead of a length."""
    lengths = [
        _field(1, _text(2, length) if isinstance(length, str) else _number(1, length))
        for length in shape
    ]
    described = _number(1, type_) + _field(2, b"".join(lengths))
    return _text(1, name) + _field(2, _field(1, described))


def model(
    nodes: Iterable[bytes],
    tensors: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
    name: str,
) -> bytes:
    """ModelProto: the complete file."""
    graph = b"".join([
        *(_field(1, message) for message in nodes),
        _text(2, name),
        *(_field(5, message) for message in tensors),
        *(_field(11, message) for message in inputs),
        *(_field(12, message) for message in outputs),
    ])  # fmt: skip
    opset = _text(1, "") + _number(2, OPSET)
    return _number(1, IR_VERSION) + _text(2, "interlude") + _field(7, graph) + _field(8, opset)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        kind, content = _FLOAT_ATTRIBUTE, _varint(2 << 3 | 5) + struct.pack("<f", value)
    elif isinstance(value, int):
        kind, content = _INT_ATTRIBUTE, _number(3, value)
    else:
        kind, content = _INTS_ATTRIBUTE, b"".join(_number(8, item) for item in value)
    return _text(1, name) + content + _number(20, kind)


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value % 2**64)  # negative values in two's complement


def _varint(value: int) -> bytes:
    """Encode a varint: seven bits a byte, lowest first; the eighth bit is set if more follow."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
