"""The graph of Mimi's decoder gives the samples of transformers' MimiModel, in chunks of any size.

The reference has 140 frames, which are 280 positions of the transformer; attention covers the last
250.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from appliance.models.mimi_graph.make import make
from appliance.models.mimi_graph.weights import CONTEXT, POSITIONS, MimiWeights
from appliance.models.onnx_graph.graph import Form
from tests.models.mimi_graph import mimi_files
from tests.models.mimi_graph.mimi_files import SMALL, Tensors, codec, decoded, reference

EXACT = 1e-5  # the largest difference of a sample; the mean amplitude of the sound is 0.1
INT8 = 0.01  # relative to the RMS of the sound: here 0.001, with 48 and 32 values per row


@pytest.mark.parametrize("piece", [1, 2, 9, 140])
def test_the_samples_are_those_of_transformers(tmp_path: Path, piece: int) -> None:
    codes, expected = reference()
    assert len(codes) * POSITIONS > CONTEXT
    found = decoded(codec(tmp_path), codes, piece)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < EXACT


@pytest.mark.parametrize("form", ["int8", "int7"])
def test_a_quantised_transformer_is_close_and_independent_of_the_chunk_size(
    tmp_path: Path, form: Form
) -> None:
    codes, expected = reference()
    mimi = codec(tmp_path, form)
    at_once = decoded(mimi, codes, 140)
    most = INT8 if form == "int7" else 2 * INT8  # 8 bits saturate on x86 without VNNI
    assert 0 < (at_once - expected).std() < most * expected.std()
    for piece in (1, 2, 9):
        assert np.abs(decoded(mimi, codes, piece) - at_once).max() < EXACT


def test_a_frame_affects_its_own_samples_and_no_earlier_ones(tmp_path: Path) -> None:
    codes, _ = reference()
    mimi = codec(tmp_path)
    other = codes.copy()
    other[70:] = (other[70:] + 1) % mimi.manifest.codes
    differ = np.flatnonzero(decoded(mimi, codes, 9) != decoded(mimi, other, 9))
    first = 70 * mimi.frame_samples
    assert first <= differ[0] < first + mimi.frame_samples


def test_attention_ignores_positions_beyond_its_context(tmp_path: Path) -> None:
    """With one layer and the past of one convolution, the 126th frame after a change does not
    depend on it."""

    def one_layer(tensors: Tensors) -> None:
        for name in [name for name in tensors if ".layers.1." in name and "transformer" in name]:
            del tensors[name]

    codes, _ = reference()
    mimi = codec(tmp_path, weights=mimi_files.written(tmp_path / "one.safetensors", one_layer))
    other = codes.copy()
    other[0] = (other[0] + 1) % mimi.manifest.codes
    off = np.abs(decoded(mimi, codes, 140) - decoded(mimi, other, 140))
    frames = off.reshape(140, -1).max(axis=1)
    # Frame 0 is in positions 0 to 3, because the rows are spread over two frames. Position 252, in
    # frame 126, is the last one that sees position 3; SEANet's convolutions reach a few rows
    # further.
    assert frames[126] > 1e-6
    assert frames[132:].max() < 1e-7


def test_the_manifest_describes_mimi_and_onnx_accepts_the_graph(tmp_path: Path) -> None:
    mimi = codec(tmp_path)
    assert (mimi.manifest.codebooks, mimi.manifest.delay_samples) == (8, 0)
    assert mimi.manifest.licence == "CC-BY-4.0"
    assert mimi.rate_hz / mimi.frame_samples == 12.5
    onnx.checker.check_model(str(tmp_path / "mimi-fp32.onnx"), full_check=True)


def test_the_dimensions_are_read_from_the_tensors() -> None:
    with SMALL.open("rb") as file:
        mimi = MimiWeights(SMALL, file)
        assert (mimi.width, mimi.layers, mimi.inner, mimi.channels) == (32, 2, 48, 32)
        assert (mimi.codes, mimi.code_width, mimi.ratios) == (16, 8, (3, 2, 2))
        assert mimi.book(0).shape == (16, 8)
        unused = mimi.book(3)[0]  # a code that was never used: a sum divided by the minimum usage
    assert unused == pytest.approx(np.ones(8))


def test_the_conversion_is_reproducible(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        make(SMALL, tmp_path / name / "mimi.json", "fp32")
    for end in ("json", "onnx", "data"):
        made = [(tmp_path / name / f"mimi.{end}").read_bytes() for name in ("a", "b")]
        assert made[0] == made[1]
    assert json.loads((tmp_path / "a/mimi.json").read_text(encoding="utf-8"))["format"] == 1
