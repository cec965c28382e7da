"""The audio encoder of a GGUF file: only files of which every tensor is known are accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.models.audio_part import write_audio_part
from appliance.models.encoder_graph.make import make
from appliance.models.encoder_graph.tower import PAST_TOKENS, AudioTower
from tests.models import encoder
from tests.think import tiny

Change = Callable[[dict[str, Any]], object]


def written(path: Path, change: Change = lambda tensors: None, kind: str = "gemma4a") -> Path:
    """A tiny encoder with changed tensors."""
    w = gguf.GGUFWriter(path, "clip")
    tiny.add_audio_keys(w)
    w.add_clip_audio_projector_type(kind)
    w.add_clip_has_vision_encoder(False)
    tensors = dict(tiny.audio_tensors())
    change(tensors)
    for name, tensor in tensors.items():
        w.add_tensor(name, tensor)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return path


def made_of(audio: Path) -> None:
    make(audio, audio.with_suffix(".onnx"), audio.with_suffix(".data"), "fp32")


def test_dimensions_are_read_from_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.gguf")
    with path.open("rb") as file:
        tower = AudioTower(path, file)
        assert (tower.width, tower.heads, tower.layers) == (tiny.EARS_WIDTH, 2, tiny.EARS_LAYERS)
        assert (tower.bands, tower.out) == (tiny.MELS, tiny.WIDTH)
        assert tower.relative_keys(0).shape == (PAST_TOKENS + 1, 2, tiny.EARS_WIDTH // 2)
        assert tower.clamp("a.blk.0.ffn_up.weight") is None


@pytest.mark.parametrize("kind", ["F16", "BF16", "F32", "Q8_0"])
def test_a_tensor_of_any_number_format_is_read_as_float32(tmp_path: Path, kind: str) -> None:
    stored = "F16" if kind == "Q8_0" else kind
    path = encoder.write(tmp_path / "a.gguf", getattr(encoder.Types, stored))
    if kind == "Q8_0":
        write_audio_part(path, tmp_path / "small.gguf", "q8_0", lambda done: None)
        path = tmp_path / "small.gguf"
    expected = dict(tiny.audio_tensors())["a.blk.0.ffn_up.weight"]
    with path.open("rb") as file:
        read = AudioTower(path, file).get("a.blk.0.ffn_up.weight")
    assert read.dtype == np.float32
    assert np.abs(read - expected).max() < (0.0 if kind == "F32" else 0.01) + 1e-9


def test_a_clamp_limit_missing_in_the_file_is_infinite(tmp_path: Path) -> None:
    def one_side(tensors: dict[str, Any]) -> None:
        tensors["a.blk.0.ffn_up.input_max"] = np.full(1, 2.0, np.float32)

    path = written(tmp_path / "a.gguf", one_side)
    with path.open("rb") as file:
        clamp = AudioTower(path, file).clamp("a.blk.0.ffn_up.weight")
    assert clamp is not None
    assert clamp[1] == 2.0
    assert min(-clamp[0], -clamp[2], clamp[3]) > 1e38


def unknown(tensors: dict[str, Any]) -> None:
    tensors["a.blk.1.conv_pw1.bias"] = np.zeros(2 * tiny.EARS_WIDTH, np.float32)


def missing(tensors: dict[str, Any]) -> None:
    del tensors["a.blk.1.attn_q.weight"]


def no_numbers(tensors: dict[str, Any]) -> None:
    tensors["a.blk.1.attn_q.weight"][0, 0] = np.nan


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (unknown, r"a\.blk\.1\.conv_pw1\.bias has no place"),
        (missing, r"has no tensor a\.blk\.1\.attn_q\.weight"),
        (no_numbers, r"a\.blk\.1\.attn_q\.weight holds values that are no numbers"),
    ],
)
def test_an_encoder_with_an_unknown_missing_or_invalid_tensor_is_refused(
    tmp_path: Path, change: Change, why: str
) -> None:
    made_of(written(tmp_path / "good.gguf"))
    with pytest.raises(ModelError, match=why):
        made_of(written(tmp_path / "bad.gguf", change))


def test_an_encoder_of_another_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="of the kind qwen2a"):
        made_of(written(tmp_path / "a.gguf", kind="qwen2a"))


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"Dear reader, this is not a model.\n" * 50)
    with pytest.raises(ModelError, match="not a GGUF"):
        made_of(path)


def test_clamp_limits_that_llama_cpp_ignores_change_nothing(tmp_path: Path) -> None:
    def of_positions(tensors: dict[str, Any]) -> None:
        tensors["a.blk.0.attn_k_rel.input_max"] = np.zeros(1, np.float32)

    made_of(written(tmp_path / "a.gguf", of_positions))
