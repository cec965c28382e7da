"""Speech too soft for the gate is accepted at once in silence, over the box only if repeated."""

from __future__ import annotations

import pytest

from appliance.hear.onset.soft_speech import SoftSpeechDetector
from appliance.settings import HearingSettings
from tests.hear.bargein.blocks import QUIET

WORD = QUIET._replace(probability=0.99)
OVER_BOX = WORD._replace(sounding=True)


def test_in_silence_one_speech_hop_is_enough(settings: HearingSettings) -> None:
    assert SoftSpeechDetector(settings).process(WORD)


def test_a_block_without_a_probability_is_not_speech(settings: HearingSettings) -> None:
    assert not SoftSpeechDetector(settings).process(WORD._replace(probability=None))


def test_a_probability_below_the_setting_is_not_speech(settings: HearingSettings) -> None:
    enough = settings.turn.probability
    assert SoftSpeechDetector(settings).process(WORD._replace(probability=enough))
    assert not SoftSpeechDetector(settings).process(WORD._replace(probability=enough - 0.01))


def test_over_the_box_three_consecutive_speech_hops_are_needed(settings: HearingSettings) -> None:
    detector = SoftSpeechDetector(settings)
    assert [detector.process(OVER_BOX) for _ in range(4)] == [False, False, True, True]
    assert not detector.process(OVER_BOX._replace(probability=0.1))
    assert [detector.process(OVER_BOX) for _ in range(3)] == [False, False, True]
    detector.reset()
    assert not detector.process(OVER_BOX)


@pytest.mark.parametrize("over_db", [0.1, -0.1])
def test_over_the_box_speech_must_exceed_the_expected_echo(
    settings: HearingSettings, over_db: float
) -> None:
    detector = SoftSpeechDetector(settings)
    least_db = -settings.onset.above_echo_db / 2
    soft = OVER_BOX._replace(excess_db=least_db + over_db)
    assert any(detector.process(soft) for _ in range(20)) == (over_db > 0)
