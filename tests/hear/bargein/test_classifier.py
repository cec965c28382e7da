"""The decision rule row by row, and phrases that the rules must classify correctly."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.bargein.classifier import (
    IN_NETWORK,
    IN_RULES,
    ClassProbabilities,
    DecisionSchedule,
    LogOdds,
    RuleClassifier,
    VerdictTracker,
)
from appliance.hear.bargein.classifier import decide as rule
from appliance.hear.bargein.segment import BLOCK_MS, Segment
from appliance.hear.onset.frontend import AudioBlock
from appliance.messages.hearing import Judgement, Opinion, Verdict
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import HearingSettings
from tests.hear.arena import Room, at_level, say, track
from tests.hear.bargein.blocks import LOUD, QUIET, block


class Constant:
    """A classifier that always returns the same probabilities."""

    def __init__(self, odds: ClassProbabilities, trust: DecisionSchedule = IN_RULES) -> None:
        self._odds = odds
        self._trust = trust

    @property
    def schedule(self) -> DecisionSchedule:
        return self._trust

    def start(self, past: Samples) -> None:
        pass

    def process(self, block: AudioBlock, segment: Segment) -> None:
        pass

    def correction(self) -> float:
        return 0.0

    def probabilities(self) -> ClassProbabilities:
        return self._odds


def decided(
    settings: HearingSettings,
    odds: ClassProbabilities | None,
    sound: list[AudioBlock],
    usual_db: float | None = None,
) -> tuple[Judgement | None, int]:
    """The verdict on these blocks, and its age in milliseconds."""
    judging = VerdictTracker(settings.verdict, RuleClassifier() if odds is None else Constant(odds))
    judging.start(np.zeros(0, np.int16))
    segment = Segment(usual_db)
    for count, block_ in enumerate(sound, 1):
        segment.update(block_)
        _, verdict = judging.process(block_, segment, count * BLOCK_MS)
        if verdict is not None:
            return verdict, count * BLOCK_MS
    return None, len(sound) * BLOCK_MS


@pytest.mark.parametrize(
    ("odds", "sound", "verdict", "age_ms"),
    [
        (ClassProbabilities(0.2, 0.7, 0.1), [LOUD] * 200, "interruption", 100),
        (
            ClassProbabilities(0.3, 0.55, 0.15),
            [LOUD] * 200,
            "interruption",
            700,
        ),  # unsure: decided at the deadline
        (
            ClassProbabilities(0.9, 0.05, 0.05),
            [LOUD] * 200,
            "backchannel",
            700,
        ),  # never while the sound continues
        (ClassProbabilities(0.9, 0.05, 0.05), [LOUD] * 30 + [QUIET] * 170, "backchannel", 300),
        (ClassProbabilities(0.3, 0.1, 0.6), [LOUD] * 30 + [QUIET] * 170, "noise", 300),
        (
            ClassProbabilities(0.4, 0.4, 0.2),
            [LOUD] * 30 + [QUIET] * 170,
            "interruption",
            700,
        ),  # a tie
    ],
)
def test_the_verdict_follows_the_probabilities_and_the_silence(
    settings: HearingSettings,
    odds: ClassProbabilities,
    sound: list[AudioBlock],
    verdict: str,
    age_ms: int,
) -> None:
    assert decided(settings, odds, sound) == (verdict, age_ms)


@pytest.mark.parametrize(
    ("interruption", "quiet_ms", "age_ms", "verdict"),
    [
        (0.98, 0, 100, None),  # early opinions have less weight
        (0.995, 0, 100, "interruption"),
        (0.70, 0, 260, None),
        (0.70, 0, 300, "interruption"),
        (0.90, 200, 300, None),  # the sound has stopped: it may have been echo
        (0.90, 400, 700, "interruption"),
        (0.001, 0, 300, None),  # the owner still speaks
        (0.001, 120, 180, "backchannel"),
        (0.001, 80, 300, None),
        (0.02, 100, 300, "backchannel"),
        (0.03, 100, 300, None),
        (0.02, 100, 540, "backchannel"),
        (0.20, 300, 540, None),
        (0.20, 300, 700, "interruption"),  # in doubt the box yields
        (0.10, 100, 700, "backchannel"),
        (0.10, 0, 700, "interruption"),  # few murmurs are so long
        (0.03, 0, 700, "backchannel"),
    ],
)
def test_the_threshold_depends_on_the_age_of_the_sound(
    settings: HearingSettings, interruption: float, quiet_ms: int, age_ms: int, verdict: str | None
) -> None:
    odds = ClassProbabilities((1 - interruption) * 0.8, interruption, (1 - interruption) * 0.2)
    assert rule(odds, quiet_ms, age_ms, settings.verdict, IN_NETWORK) == verdict


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (LogOdds(0.0, 0.0, 0.0), None),
        (LogOdds(-2.0, 3.0, -2.0), "interruption"),  # an unambiguous word
        (LogOdds(1.0, -6.0, 0.0), None),  # but not while the sound continues
    ],
)
def test_word_evidence_shifts_the_odds(
    settings: HearingSettings, evidence: LogOdds, verdict: str | None
) -> None:
    judging = VerdictTracker(settings.verdict, Constant(ClassProbabilities(0.4, 0.5, 0.1)))
    judging.start(np.zeros(0, np.int16))
    judging.add_evidence(evidence)
    segment = Segment(None)
    verdicts = []
    for count in range(1, 100):
        segment.update(LOUD)
        verdicts.append(judging.process(LOUD, segment, count * BLOCK_MS)[1])
    assert next((v for v in verdicts if v), None) == verdict


@pytest.mark.parametrize(
    ("trust", "noise", "followed"),
    [
        (IN_NETWORK, 0.2, True),
        (IN_NETWORK, 0.8, True),  # "stop" and "three" begin with a hiss
        (IN_NETWORK, 0.95, False),  # a plate
        (IN_RULES, 0.2, False),  # the rules cannot tell a hiss from a plate
    ],
)
def test_only_the_network_confirms_a_possible_voice(
    settings: HearingSettings, trust: DecisionSchedule, noise: float, followed: bool
) -> None:
    judging = VerdictTracker(
        settings.verdict, Constant(ClassProbabilities(0.0, 1 - noise, noise), trust)
    )
    judging.start(np.zeros(0, np.int16))
    segment = Segment(None)
    assert not judging.confirms_voice  # before there is an opinion
    segment.update(LOUD)
    judging.process(LOUD, segment, settings.verdict.first_ms)
    assert judging.confirms_voice == followed


def test_evidence_is_dropped_at_the_next_segment(settings: HearingSettings) -> None:
    judging = VerdictTracker(settings.verdict, Constant(ClassProbabilities(0.4, 0.5, 0.1)))
    for evidence in (LogOdds(0.0, 5.0, 0.0), None):
        judging.start(np.zeros(0, np.int16))
        if evidence:
            judging.add_evidence(evidence)
        segment = Segment(None)
        segment.update(LOUD)
        odds, _ = judging.process(LOUD, segment, 700)
        assert odds is not None
        assert (odds.interruption > 0.9) == (evidence is not None)


@pytest.mark.parametrize(
    ("sound", "usual_db", "verdict"),
    [
        ([block(-30, tone_hz=300)] * 66 + [QUIET] * 100, None, "backchannel"),  # hummed
        ([LOUD] * 60 + [QUIET] * 100, None, "backchannel"),  # one short word
        ([LOUD] * 60 + [QUIET] * 100, -27.0, "backchannel"),  # as loud as ever
        ([LOUD] * 60 + [QUIET] * 100, -38.0, "interruption"),  # shouted
        ([LOUD] * 160, None, "interruption"),  # goes on
        ([LOUD] * 65 + [QUIET] * 38 + [LOUD] * 40, None, "interruption"),  # "wait, tell me"
        ([block(-30, probability=0.1)] * 30 + [QUIET] * 120, None, "noise"),  # a cough
    ],
)
def test_the_rules_classify_a_segment(
    settings: HearingSettings, sound: list[AudioBlock], usual_db: float | None, verdict: str
) -> None:
    assert decided(settings, None, sound, usual_db)[0] == verdict


def test_probabilities_sum_to_one() -> None:
    classifier, segment = RuleClassifier(), Segment(None)
    for block_ in [LOUD] * 50 + [QUIET] * 50:
        segment.update(block_)
        classifier.process(block_, segment)
        assert sum(classifier.probabilities()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("phrase", "verdict"),
    [
        ("[[m'mh'm]]", "backchannel"),  # espeak-ng would spell "mm-hm"
        ("uh-huh", "backchannel"),
        ("right", "backchannel"),
        ("wait, tell me about the moon instead", "interruption"),
        ("hold on a second", "interruption"),
        ("what about the sea", "interruption"),
    ],
)
@pytest.mark.process  # through the whole pipeline
@pytest.mark.parametrize("voice", ["en-us", "en-gb+f2"])
def test_phrases_over_the_talking_box_get_the_right_verdict(
    talking_for_7_s: Room, phrase: str, voice: str, verdict: str
) -> None:
    owner, _ = track([at_level(say(phrase, voice, 165))], lead_s=0, gap_s=1)
    result = talking_for_7_s.hear(owner, seed=1)
    onset = 7 * RATE_HZ
    [(at, first), *_] = [verdict_at for verdict_at in result.of(Verdict) if verdict_at[0] > onset]
    assert first.kind == verdict
    opinions = [opinion for _, opinion in result.of(Opinion) if opinion.serial == first.serial]
    assert [opinion.age_ms for opinion in opinions][:1] <= [140]
    assert at - onset < 0.75 * RATE_HZ
