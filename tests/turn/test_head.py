"""The last layer fitted to smart-turn: what it learns, and what it leaves unchanged in the file."""

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


def test_a_separating_feature_is_learned_and_chance_is_not() -> None:
    over = ROWS[:, 3] > 0
    weights, bias = fit(ROWS[:200], over[:200])
    assert area(ROWS[200:] @ weights + bias, over[200:]) > 0.8
    chance = np.random.default_rng(3).random(400) > 0.5
    weights, bias = fit(ROWS[:200], chance[:200])
    assert area(ROWS[200:] @ weights + bias, chance[200:]) < 0.65


@pytest.mark.long
def test_a_head_changes_only_its_own_output(shipped: onnx.ModelProto) -> None:
    theirs, ours = outputs(shipped, ["logits", "over"])
    other = with_head(shipped, np.zeros(WIDTH), float(np.log(3)))
    theirs_after, ours_after = outputs(other, ["logits", "over"])
    assert np.array_equal(theirs, theirs_after)
    assert ours_after[0, 0] == pytest.approx(0.75)
    assert ours[0, 0] != pytest.approx(0.75)


@pytest.mark.parametrize(
    ("scores", "found"), [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], 0.0), ([1, 1, 1, 1], 0.5)]
)
def test_the_area_under_the_curve_is_computed(scores: list[float], found: float) -> None:
    assert area(np.array(scores), np.array([False, False, True, True])) == found


def test_no_training_sentence_is_used_in_the_bench() -> None:
    assert not set(PAIRS).intersection(SENTENCES)


def test_the_shipped_file_matches_the_digest_in_its_card() -> None:
    digest = hashlib.sha256(MODEL.read_bytes()).hexdigest()
    assert digest in MODEL.with_suffix(".md").read_text(encoding="utf-8")
    assert digest in (MODEL.parent / "LICENSES.md").read_text(encoding="utf-8")
