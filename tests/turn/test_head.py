"""The last layer that is fitted to smart-turn: what it learns, and what of the file stays."""

from __future__ import annotations

import hashlib

import numpy as np
import onnx
import onnxruntime
import pytest

from appliance.hear.turn.turn_network import MODEL
from lab.bench.endpoint_turns import SENTENCES
from training.turn.examples import PAIRS
from training.turn.head import WIDTH, area, fit, with_head

ROWS = np.random.default_rng(1).normal(size=(400, WIDTH))


@pytest.fixture(scope="module")
def shipped() -> onnx.ModelProto:
    return onnx.load(str(MODEL))


def outputs(model: onnx.ModelProto, names: list[str]) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    features = np.random.default_rng(2).normal(0.2, 0.4, (1, 80, 800)).astype(np.float32)
    return list(session.run(names, {"input_features": features}))


def test_what_tells_two_classes_apart_is_found_and_noise_is_not_taken_for_it() -> None:
    over = ROWS[:, 3] > 0
    weights, bias = fit(ROWS[:200], over[:200])
    assert area(ROWS[200:] @ weights + bias, over[200:]) > 0.8
    chance = np.random.default_rng(3).random(400) > 0.5
    weights, bias = fit(ROWS[:200], chance[:200])
    assert area(ROWS[200:] @ weights + bias, chance[200:]) < 0.65


@pytest.mark.long
def test_a_head_changes_its_own_output_and_no_other(shipped: onnx.ModelProto) -> None:
    theirs, ours = outputs(shipped, ["logits", "over"])
    other = with_head(shipped, np.zeros(WIDTH), float(np.log(3)))
    theirs_after, ours_after = outputs(other, ["logits", "over"])
    assert np.array_equal(theirs, theirs_after)
    assert ours_after[0, 0] == pytest.approx(0.75)
    assert ours[0, 0] != pytest.approx(0.75)


@pytest.mark.parametrize(
    ("scores", "found"), [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], 0.0), ([1, 1, 1, 1], 0.5)]
)
def test_the_area_under_the_curve(scores: list[float], found: float) -> None:
    assert area(np.array(scores), np.array([False, False, True, True])) == found


def test_no_sentence_of_the_training_is_one_of_the_benchs() -> None:
    assert not set(PAIRS).intersection(SENTENCES)


def test_the_shipped_file_is_the_one_of_the_card() -> None:
    digest = hashlib.sha256(MODEL.read_bytes()).hexdigest()
    assert digest in MODEL.with_suffix(".md").read_text(encoding="utf-8")
    assert digest in (MODEL.parent / "LICENSES.md").read_text(encoding="utf-8")
