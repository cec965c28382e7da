"""The verdict network as a classifier: size, cost, owner's layer, and the fallback to rules."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.hear.bargein import adaptation, network
from appliance.hear.bargein.adaptation import Adaptation
from appliance.hear.bargein.classifier import ClassProbabilities, RuleClassifier, SegmentClassifier
from appliance.hear.bargein.network import MODEL, NetworkClassifier, VerdictNetwork
from appliance.hear.bargein.segment import Segment
from appliance.hear.onset.frontend import AudioBlock
from appliance.hear.onset.vad import MODEL as ANOTHER_NETWORK
from appliance.pcm import Samples

BIGGEST = 1_000_000
BUDGET_MS = 2.0  # of CPU time, features included: a twentieth of 40 ms of sound


def sound(seed: int = 0) -> Samples:
    return np.random.default_rng(seed).normal(0, 1500, 16_000).astype(np.int16)


def block(samples: Samples) -> AudioBlock:
    return AudioBlock(samples, samples / 32768, -26.0, -62.0, 10.0, False, 0.9, False)


def heard(
    classifier: SegmentClassifier, samples: Samples, every: int = 8
) -> list[ClassProbabilities]:
    """The probabilities after every `every` blocks."""
    segment = Segment(None)
    classifier.start(samples[:4800])
    odds = []
    for count, at in enumerate(range(4800, len(samples) - 79, 80), 1):
        now = block(samples[at : at + 80])
        segment.update(now)
        classifier.process(now, segment)
        if count % every == 0:
            odds.append(classifier.probabilities())
    return odds


def test_the_shipped_network_is_small() -> None:
    assert MODEL.stat().st_size <= BIGGEST


def test_probabilities_sum_to_one() -> None:
    for odds in heard(NetworkClassifier(VerdictNetwork()), sound()):
        assert sum(odds) == pytest.approx(1.0)


def test_probabilities_do_not_depend_on_how_often_they_are_read() -> None:
    often = heard(NetworkClassifier(VerdictNetwork()), sound(), every=4)
    seldom = heard(NetworkClassifier(VerdictNetwork()), sound(), every=28)
    assert np.allclose(often[6::7], seldom, atol=1e-4)


def test_a_segment_leaves_no_state_for_the_next() -> None:
    classifier = NetworkClassifier(VerdictNetwork())
    first = heard(classifier, sound(1))
    heard(classifier, sound(2))
    assert np.allclose(heard(classifier, sound(1)), first, atol=1e-6)


def test_before_any_sound_the_most_likely_class_is_an_interruption() -> None:
    classifier = NetworkClassifier(VerdictNetwork())
    classifier.start(np.zeros(0, np.int16))
    opinion = classifier.probabilities()
    assert opinion.interruption == max(opinion)


def opinion_ms(classifier: SegmentClassifier, samples: Samples) -> float:
    """CPU time of the fastest of a segment's opinions."""
    segment, costs_ms = Segment(None), []
    classifier.start(samples[:4800])
    for count, at in enumerate(range(4800, len(samples) - 79, 80), 1):
        classifier.process(block(samples[at : at + 80]), segment)
        if count % 8 == 0:
            began = time.thread_time()
            classifier.probabilities()
            costs_ms.append((time.thread_time() - began) * 1000)
    return min(costs_ms)


def test_an_opinion_takes_less_than_2_ms_of_cpu() -> None:
    """A busy machine makes opinions slower and never faster, so one fast opinion is enough.
    lab/bench/interruption_cost.py measures the cost on an idle machine."""
    classifier, samples = NetworkClassifier(VerdictNetwork()), sound()
    assert any(opinion_ms(classifier, samples) < BUDGET_MS for _ in range(100))


def test_an_owners_layer_shifts_the_odds() -> None:
    bias = np.array([3.0, 0.0, 0.0], np.float32)
    layer = Adaptation(np.zeros((3, adaptation.EMBEDDING), np.float32), bias, "")
    plain = heard(NetworkClassifier(VerdictNetwork()), sound())[-1]
    moved = heard(NetworkClassifier(VerdictNetwork(), layer), sound())[-1]
    assert moved.backchannel > plain.backchannel


@pytest.mark.parametrize("problem", ["missing", "not a network", "another network"])
def test_without_a_usable_model_file_the_rules_classify(
    problem: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = tmp_path / "verdict.onnx"
    if problem == "not a network":
        model.write_bytes(b"no network")
    elif problem == "another network":
        model.write_bytes(ANOTHER_NETWORK.read_bytes())
    with pytest.raises(ModelError):
        VerdictNetwork(model)
    with caplog.at_level(logging.WARNING):
        classifier = network.make_classifier(None, logging.getLogger("test"), model)
    assert isinstance(classifier, RuleClassifier)
    assert len(caplog.records) == 1


def test_with_its_model_file_the_network_classifies(caplog: pytest.LogCaptureFixture) -> None:
    assert isinstance(network.make_classifier(None, logging.getLogger("test")), NetworkClassifier)
    assert not caplog.records


@pytest.mark.parametrize("damage", ["rubbish", "of another network"])
def test_an_unusable_layer_is_ignored_with_one_log_line(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    layer = Adaptation(np.zeros((3, 64), np.float32), np.zeros(3, np.float32), "another")
    path = adaptation.save(layer, tmp_path)
    if damage == "rubbish":
        path.write_bytes(b"rubbish")
    with caplog.at_level(logging.WARNING):
        classifier = network.make_classifier(tmp_path, logging.getLogger("test"))
    assert isinstance(classifier, NetworkClassifier)
    assert len(caplog.records) == 1
