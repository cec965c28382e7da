"""Builds an ONNX graph: operators by name, large constants in a data file, quantised products.

In: calls, one for each operator. Out: the bytes of the graph. Large constants are written to the
data file at once, so that only one tensor is in memory at a time. Number formats of the products:

fp32  not quantised.
int8  weights in 8 bits with a scale for each output. Inputs are rounded to 8 bits with one scale
      for the whole call (DynamicQuantizeLinear, MatMulInteger), or, with `by_row`, one for each
      row: then the result of a row does not depend on the other rows of the call.
int7  the same with weights in 7 bits: x86 without VNNI adds two products in 16 bits and saturates,
      which otherwise causes most of the error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from appliance.models.onnx_graph import onnx_format
from appliance.models.onnx_graph.onnx_format import FLOAT, UINT8, Attribute, DataPlace

Form = Literal["fp32", "int8", "int7"]
Weights = npt.NDArray[np.float32]

HIGHEST: dict[Form, int] = {"int8": 127, "int7": 63}
END = 2**62  # end of a slice that reaches to the end of the axis
_INLINE_BYTES = 4096  # a larger constant goes to the data file
_PAGE_BYTES = 4096  # constants are aligned to pages, so that they can be memory-mapped
_LEAST_SCALE = 1e-12
_HIGHEST_INPUT, _ZERO_INPUT = 127, 128  # largest magnitude and zero point of a row in uint8
_FLOAT16 = 10  # TensorProto.FLOAT16


class Graph:
    """A graph under construction. `data`: the data file, open for writing; `file`: its name."""

    def __init__(self, form: Form, data: IO[bytes], file: str, *, by_row: bool = False) -> None:
        self._form, self._data, self._file, self._by_row = form, data, file, by_row
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []
        self._shared: dict[Any, str] = {}  # small constants, clipped and quantised inputs
        self._quantised: dict[str, list[str]] = {}
        self._count = 0
        self._digest = hashlib.sha256()
        self._written = 0

    @property
    def data_sha256(self) -> str:
        return self._digest.hexdigest()

    def model(self, inputs: Iterable[bytes], outputs: Iterable[bytes], name: str) -> bytes:
        """Return the bytes of the graph file."""
        return onnx_format.model(self._nodes, self._tensors, inputs, outputs, name)

    # ── constants ────────────────────────────────────────────────────────────────────────────
    def constant(self, array: npt.NDArray[Any]) -> str:
        array = np.ascontiguousarray(array)
        if array.nbytes > _INLINE_BYTES:
            return self._add_tensor(array, self._write(array))
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._shared:
            self._shared[key] = self._add_tensor(array, None)
        return self._shared[key]

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def scalar(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def _add_tensor(self, array: npt.NDArray[Any], place: DataPlace | None) -> str:
        name = self._new_name("constant")
        self._tensors.append(onnx_format.tensor(name, array, place))
        return name

    def _write(self, array: npt.NDArray[Any]) -> DataPlace:
        """Append a constant to the data file, aligned to a page. Raises OSError."""
        for part in (bytes(-self._written % _PAGE_BYTES), array.tobytes()):
            self._data.write(part)
            self._digest.update(part)
            self._written += len(part)
        return DataPlace(self._file, self._written - array.nbytes, array.nbytes)

    # ── operators ────────────────────────────────────────────────────────────────────────────
    def op(self, kind: str, *inputs: str, out: str = "", **attributes: Attribute) -> str:
        """Add an operator with one result; return the result's name."""
        out = out or self._new_name(kind.lower())
        self._nodes.append(onnx_format.node(kind, inputs, [out], attributes))
        return out

    def ops(self, kind: str, *inputs: str, results: int, **attributes: Attribute) -> list[str]:
        """Add an operator with several results; return their names."""
        names = [self._new_name(kind.lower()) for _ in range(results)]
        self._nodes.append(onnx_format.node(kind, inputs, names, attributes))
        return names

    def _new_name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def add(self, a: str, b: str) -> str:
        return self.op("Add", a, b)

    def multiply(self, a: str, b: str) -> str:
        return self.op("Mul", a, b)

    def reshape(self, x: str, *shape: int) -> str:
        return self.op("Reshape", x, self.ints(*shape))

    def transpose(self, x: str, *order: int) -> str:
        return self.op("Transpose", x, perm=order)

    def concat(self, axis: int, *parts: str, out: str = "") -> str:
        return self.op("Concat", *parts, axis=axis, out=out)

    def split(self, x: str, count: int, axis: int) -> list[str]:
        return self.ops("Split", x, results=count, axis=axis, num_outputs=count)

    def cut(self, x: str, start: int, end: int, axis: int, out: str = "") -> str:
        return self.op("Slice", x, self.ints(start), self.ints(end), self.ints(axis), out=out)

    def clip(self, x: str, least: float, most: float) -> str:
        key = "clip", x, least, most
        if key not in self._shared:
            self._shared[key] = self.op("Clip", x, self.scalar(least), self.scalar(most))
        return self._shared[key]

    def silu(self, x: str) -> str:
        return self.multiply(x, self.op("Sigmoid", x))  # ONNX Runtime fuses the two operators

    def rms_norm(self, x: str, weight: Weights, epsilon: float) -> str:
        scale = self.constant(weight.astype(np.float32))
        return self.op("RMSNormalization", x, scale, axis=-1, epsilon=epsilon)

    def rounded_to_half(self, x: str) -> str:
        return self.op("Cast", self.op("Cast", x, to=_FLOAT16), to=FLOAT)

    # ── products with weights ────────────────────────────────────────────────────────────────
    def product(self, x: str, weight: Weights, *, exact: bool) -> str:
        """Product of x [n, in] and weight [out, in]: [n, out]. `exact`: fp32 in every form."""
        if exact or self._form == "fp32":
            return self.op("MatMul", x, self.constant(weight.T))
        highest = HIGHEST[self._form]
        scale = np.maximum(np.abs(weight).max(axis=1) / highest, _LEAST_SCALE).astype(np.float32)
        codes = np.clip(np.round(weight / scale[:, None]), -highest, highest).astype(np.int8)
        if x not in self._quantised:
            self._quantised[x] = self._quantised_input(x)
        codes_x, scale_x, zero_x = self._quantised[x]
        zero = self.constant(np.zeros(len(codes), np.int8))
        y = self.op("MatMulInteger", codes_x, self.constant(codes.T), zero_x, zero)
        y = self.op("Cast", y, to=FLOAT)
        return self.multiply(y, self.multiply(scale_x, self.constant(scale)))

    def _quantised_input(self, x: str) -> list[str]:
        """Quantise x to 8 bits. Returns the names of the codes, the scale and the zero point."""
        if not self._by_row:
            return self.ops("DynamicQuantizeLinear", x, results=3)
        most = self.op("ReduceMax", self.op("Abs", x), self.ints(-1), keepdims=1)
        least = self.scalar(_LEAST_SCALE)
        scale = self.op("Max", self.multiply(most, self.scalar(1 / _HIGHEST_INPUT)), least)
        steps = self.add(self.op("Round", self.op("Div", x, scale)), self.scalar(_ZERO_INPUT))
        codes = self.op("Cast", steps, to=UINT8)  # 1 to 255, as the scale is the row's maximum
        return [codes, scale, self.constant(np.array(_ZERO_INPUT, np.uint8))]
