"""Mimi's weights: only a file of which every decoder tensor is known is accepted."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.models.mimi_graph.make import make
from appliance.models.mimi_graph.safetensors import SafeTensors
from tests.models.mimi_graph import mimi_files
from tests.models.mimi_graph.mimi_files import SMALL, Change, Tensors, written

ATTENTION = "decoder_transformer.layers.1.self_attn."
BOOK = "quantizer.acoustic_residual_vector_quantizer.layers.6.codebook."
MANIFEST = "mimi.json"


def made(weights: Path) -> Path:
    manifest = weights.with_name(MANIFEST)
    make(weights, manifest, "fp32")
    return manifest


def without(name: str) -> Change:
    return lambda tensors: tensors.pop(name)


def with_shape(name: str, *shape: int) -> Change:
    def change(tensors: Tensors) -> None:
        tensors[name] = np.zeros(shape, np.float32)

    return change


def no_numbers(tensors: Tensors) -> None:
    tensors[ATTENTION + "q_proj.weight"] = np.full((32, 32), np.nan, np.float32)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (without("upsample.conv.weight"), "no tensor upsample"),
        (without(ATTENTION + "k_proj.weight"), "no tensor decoder_transformer.*k_proj"),
        (without("decoder.layers.3.block.1.conv.bias"), "no tensor decoder.layers.3.block.1"),
        (without("decoder.layers.11.conv.weight"), "has the shape"),
        (without(BOOK + "embed_sum"), "no tensor quantizer.*layers.6"),
        (without("decoder_transformer.layers.0.self_attn.q_proj.weight"), "no tensor"),
        (with_shape(ATTENTION + "o_proj.weight", 32, 31), r"\[32, 31\] instead of \[32, 32\]"),
        (with_shape(BOOK + "cluster_usage", 17), r"\[17\] instead of \[16\]"),
        (with_shape("upsample.conv.weight", 33, 1, 4), "unknown shape"),
        (with_shape("upsample.conv.weight"), r"has the shape \[\]"),
        (with_shape("upsample.conv.weight", 0, 1, 4), r"has the shape \[0, 1, 4\]"),
        (with_shape("decoder.layers.2.conv.weight", 32, 16, 5), "odd number of taps"),
        (with_shape("decoder.layers.2.conv.weight", 16, 32, 6), "instead of"),
        (with_shape("decoder.layers.3.shortcut.conv.weight", 1), "shortcut.* has no place"),
        (with_shape(ATTENTION + "q_proj.bias", 32), "q_proj.bias has no place"),
        (no_numbers, "q_proj.weight holds values that are no numbers"),
    ],
)
def test_a_file_with_an_unknown_missing_or_invalid_decoder_tensor_is_refused(
    tmp_path: Path, change: Change, why: str
) -> None:
    assert made(written(tmp_path / "good.safetensors")).exists()
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(ModelError, match=why) as refused:
        made(written(tmp_path / "bad.safetensors", change))
    assert "models fetch mimi" in refused.value.remedy
    assert not (tmp_path / MANIFEST).exists()


def test_encoder_tensors_and_further_codebooks_are_ignored(tmp_path: Path) -> None:
    def more(tensors: Tensors) -> None:
        tensors["encoder.layers.0.conv.weight"] = np.full((1, 1), np.nan, np.float32)
        tensors["quantizer.acoustic_residual_vector_quantizer.layers.30.codebook.initialized"] = (
            np.ones(1, np.float32)
        )

    made(written(tmp_path / "mimi.safetensors", more))


@pytest.mark.parametrize("kind", ["F16", "BF16", "F32"])
def test_a_tensor_of_any_number_format_is_read_as_float32(tmp_path: Path, kind: str) -> None:
    values = np.array([[1.0, -2.5, 0.15625]], np.float32)  # exact in each of the formats
    raw = {
        "F16": values.astype("<f2").tobytes(),
        "BF16": (values.view(np.uint32) >> 16).astype("<u2").tobytes(),
        "F32": values.tobytes(),
    }[kind]
    path = tmp_path / "one.safetensors"
    entry = {"dtype": kind, "shape": [1, 3], "data_offsets": [0, len(raw)]}
    path.write_bytes(mimi_files.joined({"a": entry, "__metadata__": {"format": "pt"}}, raw))
    with path.open("rb") as file:
        tensors = SafeTensors(path, file)
        assert list(tensors) == ["a"]
        assert tensors.get("a").dtype == np.float32
        assert np.array_equal(tensors.get("a"), values)


def entry(**changes: Any) -> dict[str, Any]:
    """The header of a valid file with one tensor, with changes."""
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | changes}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x08\0\0",
        b"Dear reader, this is no model.\n" * 50,
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 400) + b"{}",
        struct.pack("<Q", 1) + b"{" + bytes(8),
        struct.pack("<Q", 9000) + b"[" * 9000 + bytes(8),
        struct.pack("<Q", 4) + b"\xff\xfe{}" + bytes(8),
        mimi_files.joined([], bytes(8)),
        mimi_files.joined(entry(dtype="I64"), bytes(8)),
        mimi_files.joined(entry(shape=[-2]), bytes(8)),
        mimi_files.joined(entry(shape=[3]), bytes(8)),
        mimi_files.joined(entry(shape=[2**40, 2**40]), bytes(8)),
        mimi_files.joined(entry(shape=[1] * 99 + [2]), bytes(8)),
        mimi_files.joined(entry(data_offsets=[-8, 0]), bytes(8)),
        mimi_files.joined(entry(data_offsets=[8, 0]), bytes(8)),
        mimi_files.joined(entry(data_offsets=[0]), bytes(8)),
        mimi_files.joined(entry(data_offsets=[2**39, 2**39 + 8]), bytes(8)),
        mimi_files.joined(entry(), bytes(7)),
        mimi_files.joined({"a": 3}, bytes(8)),
    ],
)
def test_a_damaged_or_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(mimi_files.joined(entry(), bytes(8)))
    with path.open("rb") as file:
        assert SafeTensors(path, file).get("a").shape == (2,)
    path.write_bytes(content)
    with path.open("rb") as file, pytest.raises(ModelError) as refused:
        SafeTensors(path, file)
    assert "models fetch mimi" in refused.value.remedy


@pytest.mark.parametrize("kept", [0, 7, 9, 3_000, 60_000, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "cut.safetensors"
    path.write_bytes(SMALL.read_bytes()[:kept])
    with pytest.raises(ModelError):
        made(path)
