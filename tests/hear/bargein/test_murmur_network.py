"""The network of murmurs: how the sound is prepared, and what a file must be."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from appliance.errors import ModelError
from appliance.hear.bargein.murmur_network import AGES_MS, WHOLE, MurmurNetwork
from appliance.hear.onset import vad
from appliance.hear.turn.log_mel import BANDS
from appliance.pcm import RATE_HZ, Samples

THRESHOLDS = {"300": 0.1, "480": 0.2, "650": 0.3, WHOLE: 0.4}


def write_mean(path: Path, thresholds: dict[str, float] = THRESHOLDS) -> Path:
    """A graph with the network's input and output: the mean of all bands, and its double."""
    mel = helper.make_tensor_value_info("mel", TensorProto.FLOAT, [1, BANDS, "T"])
    log_odds = helper.make_tensor_value_info("log_odds", TensorProto.FLOAT, [2])
    nodes = [helper.make_node("ReduceMean", ["mel"], ["mean"], axes=[1, 2], keepdims=0),
             helper.make_node("Add", ["mean", "mean"], ["double"]),
             helper.make_node("Concat", ["mean", "double"], ["log_odds"], axis=0)]  # fmt: skip
    graph = helper.make_graph(nodes, "mean", [mel], [log_odds])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, {f"threshold {key}": str(value)
                                   for key, value in thresholds.items()})  # fmt: skip
    onnx.save(model, path)
    return path


def sound(seconds: float, level: float = 3000.0) -> Samples:
    wave = np.random.default_rng(1).standard_normal(round(seconds * RATE_HZ)) * level
    return np.clip(wave, -32768, 32767).astype(np.int16)


@pytest.mark.parametrize("seconds", [0.2, 0.44, 0.797, 1.3])
def test_the_level_of_the_sound_does_not_count_and_any_length_does(
    tmp_path: Path, seconds: float
) -> None:
    network = MurmurNetwork(write_mean(tmp_path / "mean.onnx"))
    loud, soft = network.scores(sound(seconds)), network.scores(sound(seconds, 300.0))
    assert soft == pytest.approx(loud, abs=1e-3)
    assert loud.noise == pytest.approx(2 * loud.murmur)
    assert all(map(math.isfinite, network.scores(np.zeros(4000, np.int16))))


def test_its_thresholds_are_in_the_file(tmp_path: Path) -> None:
    assert MurmurNetwork(write_mean(tmp_path / "mean.onnx")).thresholds == THRESHOLDS
    assert set(MurmurNetwork().thresholds) == {*map(str, AGES_MS), WHOLE}


def test_another_network_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not that of murmurs"):
        MurmurNetwork(vad.MODEL)
    with pytest.raises(ModelError, match="no thresholds"):
        MurmurNetwork(write_mean(tmp_path / "mean.onnx", {"300": 0.0}))
