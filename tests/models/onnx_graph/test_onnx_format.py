"""ONNX files as this project writes them are read correctly by the onnx package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import numpy_helper

from appliance.models.onnx_graph import onnx_format
from appliance.models.onnx_graph.onnx_format import FLOAT, INT64, DataPlace


def test_a_node_with_every_kind_of_attribute_is_read_back() -> None:
    given: dict[str, onnx_format.Attribute] = {
        "axis": -1,
        "large": 2**40,
        "epsilon": 0.125,
        "perm": (0, 2, 1),
        "none": (),
    }
    read = onnx.NodeProto.FromString(onnx_format.node("Some", ["a", ""], ["b", "c"], given))
    assert (read.op_type, list(read.input), list(read.output)) == ("Some", ["a", ""], ["b", "c"])
    found = {
        attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in read.attribute
    }
    assert {name: value if isinstance(value, int | float) else tuple(value)
            for name, value in found.items()} == given  # fmt: skip


@pytest.mark.parametrize("type_", [np.float32, np.int64, np.int8, np.uint8])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 200)])
def test_a_tensor_is_read_back_unchanged(type_: type, shape: tuple[int, ...]) -> None:
    numbers = np.arange(int(np.prod(shape))) % 120 - 5 * (type_ is not np.uint8)
    array: npt.NDArray[Any] = numbers.astype(type_).reshape(shape)
    read = onnx.TensorProto.FromString(onnx_format.tensor("a name", array))
    assert read.name == "a name"
    assert numpy_helper.to_array(read).dtype == type_
    assert np.array_equal(numpy_helper.to_array(read), array)


def test_a_tensor_in_an_external_file_is_read_back(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    (tmp_path / "numbers").write_bytes(bytes(100) + array.tobytes())
    place = DataPlace("numbers", 100, array.nbytes)
    read = onnx.TensorProto.FromString(onnx_format.tensor("x", array, place))
    assert np.array_equal(numpy_helper.to_array(read, base_dir=str(tmp_path)), array)


def test_a_model_is_valid_and_one_with_an_unknown_input_is_not() -> None:
    def model(operand: str) -> bytes:
        nodes = [onnx_format.node("Add", ["x", operand], ["y"], {})]
        constant = onnx_format.tensor("one", np.ones(1, np.float32))
        x, y = (onnx_format.value_info(name, FLOAT, ["n", 3]) for name in "xy")
        return onnx_format.model(nodes, [constant], [x], [y], "a graph")

    onnx.checker.check_model(onnx.ModelProto.FromString(model("one")), full_check=True)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(onnx.ModelProto.FromString(model("two")))


def test_fixed_and_named_dimensions_are_read_back() -> None:
    described = onnx_format.value_info("x", INT64, ["samples", 3])
    read = onnx.ValueInfoProto.FromString(described).type.tensor_type
    assert read.elem_type == INT64
    assert [dimension.dim_param or dimension.dim_value for dimension in read.shape.dim] == [
        "samples",
        3,
    ]
