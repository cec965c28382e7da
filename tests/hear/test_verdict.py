"""The decision rule row by row, and the phrases that the rules must not get wrong."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.burst import STEP_MS, Burst
from appliance.hear.hearing import Hearing
from appliance.hear.senses import Step
from appliance.hear.verdict import Judging, Odds, RuleJudge
from appliance.ipc.ring import Samples
from appliance.messages import Judgement, Opinion, Verdict
from appliance.settings import Hearing as HearingSettings
from tests.hear.arena import ANSWER, at_level, run, say, track


class Constant:
    """A judge with one opinion."""

    vouches = False

    def __init__(self, odds: Odds) -> None:
        self._odds = odds

    def begin(self, past: Samples) -> None:
        pass

    def feed(self, step: Step, burst: Burst) -> None:
        pass

    def opinion(self) -> Odds:
        return self._odds


def step(energy_db: float, *, tone_hz: float = 1000, probability: float = 0.95) -> Step:
    wave = np.sin(2 * np.pi * tone_hz * np.arange(80) / 16_000) * 10 ** (energy_db / 20) * 2**0.5
    return Step(
        (wave * 32768).astype(np.int16), wave, energy_db, -62.0, 0.0, False, probability, False
    )


def decided(
    settings: HearingSettings,
    odds: Odds | None,
    sound: list[Step],
    usual_db: float | None = None,
) -> tuple[Judgement | None, int]:
    """The verdict on these steps, and its age."""
    judging = Judging(settings.verdict, RuleJudge() if odds is None else Constant(odds))
    judging.begin(np.zeros(0, np.int16))
    burst = Burst(usual_db)
    for count, each in enumerate(sound, 1):
        burst.feed(each)
        _, verdict = judging.feed(each, burst, count * STEP_MS)
        if verdict is not None:
            return verdict, count * STEP_MS
    return None, len(sound) * STEP_MS


LOUD, QUIET = step(-26), step(-62)


@pytest.mark.parametrize(
    ("odds", "sound", "verdict", "age_ms"),
    [
        (Odds(0.01, 0.98, 0.01), [LOUD] * 200, "interruption", 100),  # as sure as can be
        (Odds(0.2, 0.7, 0.1), [LOUD] * 200, "interruption", 300),
        (Odds(0.3, 0.55, 0.15), [LOUD] * 200, "interruption", 700),  # not sure: at the deadline
        (Odds(0.9, 0.05, 0.05), [LOUD] * 200, "backchannel", 700),  # never while it goes on
        (Odds(0.9, 0.05, 0.05), [LOUD] * 30 + [QUIET] * 170, "backchannel", 300),
        (Odds(0.3, 0.1, 0.6), [LOUD] * 30 + [QUIET] * 170, "noise", 300),
        (Odds(0.4, 0.4, 0.2), [LOUD] * 30 + [QUIET] * 170, "interruption", 700),  # a tie
    ],
)
def test_when_a_judge_is_believed(
    settings: HearingSettings, odds: Odds, sound: list[Step], verdict: str, age_ms: int
) -> None:
    assert decided(settings, odds, sound) == (verdict, age_ms)


@pytest.mark.parametrize(
    ("sound", "usual_db", "verdict"),
    [
        ([step(-30, tone_hz=300)] * 66 + [QUIET] * 100, None, "backchannel"),  # hummed
        ([LOUD] * 60 + [QUIET] * 100, None, "backchannel"),  # one short word
        ([LOUD] * 60 + [QUIET] * 100, -27.0, "backchannel"),  # as loud as ever
        ([LOUD] * 60 + [QUIET] * 100, -38.0, "interruption"),  # shouted
        ([LOUD] * 160, None, "interruption"),  # goes on
        ([LOUD] * 65 + [QUIET] * 38 + [LOUD] * 40, None, "interruption"),  # "wait, tell me"
        ([step(-30, probability=0.1)] * 30 + [QUIET] * 120, None, "noise"),  # a cough
    ],
)
def test_what_the_rules_make_of_a_burst(
    settings: HearingSettings, sound: list[Step], usual_db: float | None, verdict: str
) -> None:
    assert decided(settings, None, sound, usual_db)[0] == verdict


def test_probabilities_sum_to_one() -> None:
    judge, burst = RuleJudge(), Burst(None)
    for each in [LOUD] * 50 + [QUIET] * 50:
        burst.feed(each)
        judge.feed(each, burst)
        assert sum(judge.opinion()) == pytest.approx(1.0)


@pytest.mark.usefixtures("espeak")
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
@pytest.mark.parametrize("voice", ["en-us", "en-gb+f2"])
def test_phrases_over_the_talking_box(
    settings: HearingSettings, phrase: str, voice: str, verdict: str
) -> None:
    owner, [onset] = track([at_level(say(phrase, voice, 165))], lead_s=7, gap_s=1)
    result = run(Hearing(settings), owner, answer=at_level(np.tile(say(ANSWER), 2), -20))
    [(at, first), *_] = [each for each in result.of(Verdict) if each[0] > onset]
    assert first.kind == verdict
    opinions = [each for _, each in result.of(Opinion) if each.serial == first.serial]
    assert [each.age_ms for each in opinions][:1] <= [140]
    assert at - onset < 0.75 * 16_000
