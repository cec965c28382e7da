"""The judge of murmurs: how the sound is prepared, what it decides, and what if there is none."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from appliance.errors import ModelError
from appliance.hear.bargein.classifier import (
    IN_NETWORK,
    MURMUR_ASKED_MS,
    ClassProbabilities,
    VerdictTracker,
)
from appliance.hear.bargein.murmur_network import MurmurNetwork, make_judge
from appliance.hear.bargein.segment import BLOCK_MS, Segment
from appliance.hear.network_judge import NetworkAnswer
from appliance.hear.onset import vad
from appliance.hear.turn.log_mel import BANDS
from appliance.messages.hearing import Judgement
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import HearingSettings
from tests.hear.bargein.blocks import LOUD, QUIET
from tests.hear.bargein.test_classifier import Constant

log = logging.getLogger("test")
UNSURE = ClassProbabilities(0.48, 0.48, 0.04)


def write_mean(path: Path) -> Path:
    """A graph with the network's input and output: the mean of all bands."""
    mel = helper.make_tensor_value_info("mel", TensorProto.FLOAT, [1, BANDS, "T"])
    log_odds = helper.make_tensor_value_info("log_odds", TensorProto.FLOAT, [1])
    node = helper.make_node("ReduceMean", ["mel"], ["log_odds"], axes=[1, 2], keepdims=0)
    graph = helper.make_graph([node], "mean", [mel], [log_odds])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
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
    loud, soft = network.probability(sound(seconds)), network.probability(sound(seconds, 300.0))
    assert 0 < loud < 1
    assert soft == pytest.approx(loud, abs=1e-3)
    assert math.isfinite(network.probability(np.zeros(4000, np.int16)))


def test_another_network_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not that of murmurs"):
        MurmurNetwork(vad.MODEL)


def test_without_a_model_the_log_says_who_decides(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert make_judge("auto", log, tmp_path / "none.onnx") is None
    assert make_judge("de", log) is None
    missing, other = caplog.messages
    assert missing.startswith("murmurs are judged by the small network alone: ")
    assert "knows English only" in other
    for language in ("auto", "en"):
        judge = make_judge(language, log)
        assert judge is not None
        judge.close()


@pytest.mark.parametrize("correction", [-2.0, 0.0, 2.0])
def test_what_an_owner_has_taught_still_moves_the_opinion(correction: float) -> None:
    opinion = UNSURE.with_murmur(0.5, correction)
    assert opinion.noise == UNSURE.noise
    assert math.log(opinion.backchannel / opinion.interruption) == pytest.approx(correction)


class ScriptedJudge:
    """Answers each question with `probability`, `late_ms` after it was asked."""

    def __init__(self, probability: float | None, late_ms: int = 20) -> None:
        self.probability = probability
        self.late_ms = late_ms
        self.asked_ms: list[int] = []
        self.now_ms = 0
        self._due: list[tuple[int, NetworkAnswer]] = []

    def ask(self, number: int, samples: Samples) -> None:
        self.asked_ms.append(self.now_ms)
        answer = NetworkAnswer(number, self.probability, 5.0)
        self._due.append((self.now_ms + self.late_ms, answer))

    def pop_answer(self) -> NetworkAnswer | None:
        if self._due and self._due[0][0] <= self.now_ms:
            return self._due.pop(0)[1]
        return None


def judged(
    settings: HearingSettings, judge: ScriptedJudge, loud_ms: int = 250, last_ms: int = 700
) -> tuple[Judgement | None, int]:
    """The verdict on a sound of which the small network knows nothing, and its age."""
    tracker = VerdictTracker(settings.verdict, Constant(UNSURE, IN_NETWORK), judge)
    tracker.start(np.zeros(0, np.int16))
    segment = Segment(None)
    for age_ms in range(BLOCK_MS, last_ms + BLOCK_MS, BLOCK_MS):
        block = LOUD if age_ms <= loud_ms else QUIET
        segment.update(block)
        judge.now_ms = age_ms
        _, verdict = tracker.process(block, segment, age_ms, lambda: sound(0.3))
        if verdict is not None:
            return verdict, age_ms
    return None, last_ms


def test_it_is_asked_at_its_moments_until_the_verdict(settings: HearingSettings) -> None:
    judge = ScriptedJudge(0.5)
    judged(settings, judge)
    assert judge.asked_ms == list(MURMUR_ASKED_MS)


@pytest.mark.parametrize(
    ("probability", "loud_ms", "verdict", "latest_ms"),
    [(0.99, 250, "backchannel", 400), (0.03, 700, "interruption", 400),
     (0.99, 700, "backchannel", 700)],
)  # fmt: skip
def test_its_answer_decides_between_murmur_and_call(
    settings: HearingSettings, probability: float, loud_ms: int, verdict: str, latest_ms: int
) -> None:
    found, age_ms = judged(settings, ScriptedJudge(probability), loud_ms)
    assert found == verdict
    assert age_ms <= latest_ms


@pytest.mark.parametrize("judge", [ScriptedJudge(None), ScriptedJudge(0.99, late_ms=5000)])
def test_without_an_answer_in_time_the_small_network_decides(
    settings: HearingSettings, judge: ScriptedJudge
) -> None:
    assert judged(settings, judge) == ("interruption", 700)


def test_an_answer_about_an_earlier_sound_does_not_count(settings: HearingSettings) -> None:
    judge = ScriptedJudge(0.99, late_ms=500)
    tracker = VerdictTracker(settings.verdict, Constant(UNSURE, IN_NETWORK), judge)
    segment = Segment(None)
    for first_ms in (0, 400):
        tracker.start(np.zeros(0, np.int16))
        for age_ms in range(BLOCK_MS, 400, BLOCK_MS):
            judge.now_ms = first_ms + age_ms
            opinion, _ = tracker.process(LOUD, segment, age_ms, lambda: sound(0.3))
            assert opinion is None or opinion == UNSURE
