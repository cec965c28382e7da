"""The judge of murmurs: when it asks, what it decides, and what if there is none."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from appliance.hear.bargein.classifier import IN_NETWORK, ClassProbabilities, VerdictTracker
from appliance.hear.bargein.murmur_judge import MurmurJudge, make_judge
from appliance.hear.bargein.murmur_network import AGES_MS, WHOLE, MurmurScores
from appliance.hear.bargein.segment import BLOCK_MS, Segment
from appliance.hear.network_judge import NetworkAnswer
from appliance.messages.hearing import Judgement
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import HearingSettings
from tests.hear.bargein.blocks import LOUD, QUIET
from tests.hear.bargein.test_classifier import Constant
from tests.hear.bargein.test_murmur_network import THRESHOLDS, sound

log = logging.getLogger("test")
UNSURE = ClassProbabilities(0.48, 0.48, 0.04)
SURE, UNLIKELY = 4.0, -4.0  # scores


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


class Scripted:
    """A network that answers each question with `score`, `late_ms` after it was asked."""

    def __init__(self, score: float | None, late_ms: int = 20) -> None:
        self.score = score
        self.late_ms = late_ms
        self.asked_ms: list[int] = []
        self.lengths_ms: list[int] = []
        self.now_ms = 0
        self._due: list[tuple[int, NetworkAnswer[MurmurScores]]] = []

    def ask(self, number: int, samples: Samples) -> None:
        self.asked_ms.append(self.now_ms)
        self.lengths_ms.append(len(samples) * 1000 // RATE_HZ)
        scores = None if self.score is None else MurmurScores(self.score, -3.0)
        self._due.append((self.now_ms + self.late_ms, NetworkAnswer(number, scores, 5.0)))

    def pop_answer(self) -> NetworkAnswer[MurmurScores] | None:
        if self._due and self._due[0][0] <= self.now_ms:
            return self._due.pop(0)[1]
        return None


def judged(
    settings: HearingSettings,
    network: Scripted,
    loud_ms: int = 250,
    last_ms: int = 700,
    classifier: Constant = Constant(UNSURE, IN_NETWORK),  # noqa: B008 -- it has no state
) -> tuple[Judgement | None, int]:
    """The verdict on a sound of which the small network knows nothing, and its age."""
    judge = MurmurJudge(network, THRESHOLDS)
    tracker = VerdictTracker(settings.verdict, classifier, judge)
    tracker.start(np.zeros(0, np.int16))
    segment = Segment(None)
    for age_ms in range(BLOCK_MS, last_ms + BLOCK_MS, BLOCK_MS):
        segment.update(LOUD if age_ms <= loud_ms else QUIET)
        network.now_ms = age_ms
        heard = sound((140 + age_ms) / 1000)
        _, verdict = tracker.process(LOUD, segment, age_ms, lambda heard=heard: heard)  # type: ignore[misc]  # the default binds it
        if verdict is not None:
            return verdict, age_ms
    return None, last_ms


def test_it_is_asked_at_its_ages_while_the_sound_goes_on(settings: HearingSettings) -> None:
    network = Scripted(0.0)
    judged(settings, network, loud_ms=700)
    assert network.asked_ms == list(AGES_MS)
    assert network.lengths_ms == [140 + age for age in AGES_MS]


def test_a_sound_that_has_ended_is_asked_about_as_a_whole(settings: HearingSettings) -> None:
    network = Scripted(0.0)
    judged(settings, network, loud_ms=250)
    assert network.asked_ms == [300, 370]
    assert network.lengths_ms[1] == 140 + 250 + 60


@pytest.mark.parametrize(
    ("score", "loud_ms", "verdict", "latest_ms"),
    [(SURE, 250, "backchannel", 400), (UNLIKELY, 700, "interruption", 400),
     (SURE, 700, "backchannel", 700)],
)  # fmt: skip
def test_its_answer_decides_between_murmur_and_call(
    settings: HearingSettings, score: float, loud_ms: int, verdict: str, latest_ms: int
) -> None:
    found, age_ms = judged(settings, Scripted(score), loud_ms)
    assert found == verdict
    assert age_ms <= latest_ms


@pytest.mark.parametrize(("score", "verdict"), [(0.6, "backchannel"), (0.2, "interruption")])
def test_a_sound_that_has_ended_is_decided_before_the_deadline(
    settings: HearingSettings, score: float, verdict: str
) -> None:
    assert judged(settings, Scripted(score), loud_ms=200) == (verdict, 380)
    assert judged(settings, Scripted(score), loud_ms=700)[1] == 700


@pytest.mark.parametrize(
    "network", [Scripted(None), Scripted(float("nan")), Scripted(SURE, late_ms=5000)]
)
def test_without_an_answer_in_time_the_small_network_decides(
    settings: HearingSettings, network: Scripted
) -> None:
    assert judged(settings, network) == ("interruption", 700)


def test_until_its_answer_nothing_is_an_interruption(settings: HearingSettings) -> None:
    sure = Constant(ClassProbabilities(0.01, 0.98, 0.01), IN_NETWORK)
    for late_ms, ms in ((20, 340), (5000, 420)):
        network = Scripted(UNLIKELY, late_ms)
        found = judged(settings, network, loud_ms=700, classifier=sure)
        assert found == ("interruption", ms)


def test_an_answer_about_an_earlier_sound_does_not_count() -> None:
    network = Scripted(SURE, late_ms=500)
    judge = MurmurJudge(network, THRESHOLDS)
    for first_ms in (0, 400):
        judge.start()
        for age_ms in range(BLOCK_MS, 400, BLOCK_MS):
            network.now_ms = first_ms + age_ms
            judge.process(age_ms, 0, lambda: sound(0.3))
            assert judge.opinion is None


@pytest.mark.parametrize(("murmur", "noise"), [(0.0, -9.0), (2.0, -1.0), (-2.0, 3.0)])
def test_its_scores_are_probabilities_of_three_classes(murmur: float, noise: float) -> None:
    opinion = ClassProbabilities.of_log_odds(murmur, noise)
    assert sum(opinion) == pytest.approx(1.0)
    assert np.log(opinion.backchannel / opinion.interruption) == pytest.approx(murmur)
    assert np.log(opinion.noise / (1 - opinion.noise)) == pytest.approx(noise, abs=1e-6)


def given_way(network: Scripted, quiet_ms: int = 400, again_ms: int = 0) -> list[int]:
    """The lengths of silence, in ms, at which what was given way to counts as a murmur."""
    judge, found = MurmurJudge(network, THRESHOLDS), []
    times = [*range(0, again_ms, BLOCK_MS), *range(0, quiet_ms, BLOCK_MS)]
    for turn, silent_ms in enumerate(times):
        network.now_ms = BLOCK_MS * turn
        heard = sound((640 + silent_ms) / 1000)
        if judge.was_murmur(silent_ms, silent_ms, lambda heard=heard: heard):  # type: ignore[misc]  # the default binds it
            found.append(silent_ms)
    return found


def test_what_was_given_way_to_is_asked_about_once_it_has_ended() -> None:
    network = Scripted(SURE)
    assert given_way(network)[0] == 270
    assert network.lengths_ms == [700]


def test_a_call_or_a_doubtful_murmur_stays_a_turn() -> None:
    assert given_way(Scripted(UNLIKELY)) == []
    assert given_way(Scripted(THRESHOLDS[WHOLE] + 0.1)) == []
    assert given_way(Scripted(None)) == []


def test_a_sound_that_goes_on_is_asked_about_again() -> None:
    network = Scripted(SURE, late_ms=200)
    assert given_way(network, quiet_ms=600, again_ms=300)[0] == 250 + 200
    assert len(network.lengths_ms) == 2
