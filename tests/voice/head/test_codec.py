"""A codec's decoder gives the same sound in pieces of any size; invalid codecs are refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from appliance.errors import ModelError
from appliance.voice.head.codec import Codec, CodecState
from tests.voice.head import tiny_codec
from tests.voice.head.tiny_codec import BACK, FRAME, codes, waves

SAME = 1e-5
Sound = npt.NDArray[np.float32]


def in_pieces(codec: Codec, frames: npt.NDArray[np.int64], piece: int) -> Sound:
    """The sound of all frames, decoded in pieces, with the delayed rest."""
    state, parts = codec.start(), []
    for at in range(0, len(frames), piece):
        samples, state = codec.decode(frames[at : at + piece], state)
        parts.append(samples)
    return np.concatenate([*parts, codec.finish(state)])


@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize("piece", [1, 2, 3, 7])
def test_decoding_in_pieces_equals_decoding_at_once(
    tmp_path: Path, piece: int, delayed: bool
) -> None:
    codec, frames = Codec(tiny_codec.write(tmp_path, delayed=delayed)), codes(20)
    whole = in_pieces(codec, frames, 20)
    assert len(whole) == 20 * FRAME
    assert np.abs(in_pieces(codec, frames, piece) - whole).max() < SAME


def test_the_delay_of_a_codec_is_compensated(tmp_path: Path) -> None:
    codec, frames = Codec(tiny_codec.write(tmp_path, delayed=True)), codes(20)
    first, state = codec.decode(frames[0], codec.start())
    assert len(first) == FRAME - BACK
    assert len(codec.decode(frames[1], state)[0]) == FRAME
    assert np.array_equal(in_pieces(codec, frames, 1), waves(frames))


@pytest.mark.parametrize("delay", [BACK, 2 * FRAME])
def test_a_delay_longer_than_the_sound_loses_nothing(tmp_path: Path, delay: int) -> None:
    path = tiny_codec.write(tmp_path, delayed=True, delay_samples=delay)
    codec = Codec(path)
    assert len(in_pieces(codec, codes(1), 1)) == FRAME
    assert len(codec.finish(codec.start())) == 0


def test_a_saved_state_can_be_continued_several_times(tmp_path: Path) -> None:
    codec, frames = Codec(tiny_codec.write(tmp_path)), codes(4)
    _, state = codec.decode(frames[:2], codec.start())
    once, _ = codec.decode(frames[2:], state)
    codec.decode(codes(9, seed=1), state)
    again, _ = codec.decode(frames[2:], state)
    assert np.array_equal(once, again)
    from_the_start, _ = codec.decode(frames[2:], codec.start())
    assert not np.array_equal(once, from_the_start)  # lacks the echo of the previous frame


@pytest.mark.parametrize(
    "bad", [[0], [0, 0, 0], [[]], [[[0, 0]]], [-1, 0], [0, tiny_codec.CODES], [2**40, 0]]
)
def test_invalid_codes_are_refused(tmp_path: Path, bad: Sequence[Any]) -> None:
    codec = Codec(tiny_codec.write(tmp_path))
    codec.decode(np.array([0, tiny_codec.CODES - 1]), codec.start())
    with pytest.raises(ModelError):
        codec.decode(np.array(bad, np.int64), codec.start())


def test_an_invalid_state_raises_a_model_error(tmp_path: Path) -> None:
    codec = Codec(tiny_codec.write(tmp_path))
    past = np.full(BACK, np.nan, np.float32)
    with pytest.raises(ModelError, match="output is not sound"):
        codec.decode(codes(1), CodecState({"past": past}, 0))
    with pytest.raises(ModelError, match="cannot decode"):
        codec.decode(codes(1), CodecState({"past": np.zeros(BACK + 1, np.float32)}, 0))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"graph": "../tiny.onnx"},
        {"graph": "tiny.onnx\0"},
        {"rate_hz": 0},
        {"frame_samples": -6},
        {"codebooks": 3},  # the graph has two
        {"delay_samples": 4},  # without closing_codes
        {"delay_samples": 4, "closing_codes": [0, 5]},
        {"closing_codes": [0, 0]},
        {"states": []},
        {"states": [{"name": "past", "type": "float32", "shape": [3]}]},
        {"states": [{"name": "past", "type": "int64", "shape": [4]}]},
        {"states": [{"name": "other", "type": "float32", "shape": [4]}]},
        {"states": 2 * [{"name": "past", "type": "float32", "shape": [4]}]},
        {"states": [{"name": "past", "type": "float32", "shape": [0]}]},
        {"unknown": 1},
    ],
)
def test_a_manifest_that_does_not_match_the_graph_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    Codec(tiny_codec.write(tmp_path))
    with pytest.raises(ModelError, match="Make it again"):
        Codec(tiny_codec.write(tmp_path, **changes))


def test_a_graph_with_a_state_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="its graph has other inputs \\(past\\)"):
        Codec(tiny_codec.write(tmp_path, past=BACK + 1))


def test_missing_truncated_or_invalid_files_raise_a_model_error(tmp_path: Path) -> None:
    path = tiny_codec.write(tmp_path)
    graph = path.with_suffix(".onnx")
    content, described = graph.read_bytes(), json.loads(path.read_text(encoding="utf-8"))
    for damage in (content[: len(content) // 2], b"", b"no network"):
        graph.write_bytes(damage)
        with pytest.raises(ModelError):
            Codec(path)
    graph.unlink()
    with pytest.raises(ModelError, match="graph is missing"):
        Codec(path)
    for text in ("", "[" * 9999, "null", json.dumps(described)[:-9]):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ModelError, match="describes no codec"):
            Codec(path)
    path.unlink()
    with pytest.raises(ModelError, match="the codec is missing"):
        Codec(path)
