"""The figures of the interruption bench, from synthetic trials."""

from __future__ import annotations

import math
from typing import Any

import pytest

from appliance.hear.bargein.recordings import RecordingKind
from lab.bench import interruption_figures as figures
from lab.bench.interruption_trials import InterruptionTrial


def trial(kind: RecordingKind, **fields: Any) -> InterruptionTrial:
    return InterruptionTrial(
        "x", kind, **{"real": True, "clear": True, "length_ms": 400.0} | fields
    )


def judged(
    kind: RecordingKind, verdict: str, age_ms: int = 400, **fields: Any
) -> InterruptionTrial:
    return trial(kind, verdict=verdict, age_ms=age_ms, **fields)


def test_a_stop_counts_if_its_onset_is_known_and_the_box_sounded() -> None:
    good = trial("interruption", stop_ms=20.0)
    others = [trial("interruption", stop_ms=20.0, clear=False), trial("noise", stop_ms=20.0),
              trial("interruption", left_out="not audible")]  # fmt: skip
    assert figures.stops([good, *others]) == [good]


def test_a_missed_word_counts_as_infinitely_late() -> None:
    trials = [trial("interruption", stop_ms=20.0)] * 9 + [trial("interruption", missed=True)]
    assert figures.stop_percentile(trials, 50).value == 20.0
    assert figures.stop_percentile(trials, 99).value >= 1e8
    assert figures.share_within(trials, 300).value == pytest.approx(0.9)
    assert math.isnan(figures.stop_percentile([], 50).value)


def test_rates_are_per_hour_of_talking() -> None:
    rate = figures.hourly_rate(3, 1800.0)
    assert rate.value == 6.0
    assert rate.low < 6.0 < rate.high
    assert math.isnan(figures.hourly_rate(0, 0.0).value)


def test_continuing_is_right_after_a_backchannel_and_wrong_after_an_interruption() -> None:
    assert figures.right("backchannel", "noise")
    assert figures.right("noise", "no pause")
    assert figures.right("interruption", "interruption")
    assert not figures.right("interruption", "no pause")
    assert not figures.right("backchannel", "interruption")


def test_accuracy_is_the_mean_of_the_recalls() -> None:
    trials = [judged("backchannel", "backchannel")] * 3 + [judged("backchannel", "interruption")]
    trials += [judged("interruption", "interruption")] * 10
    assert figures.accuracy(trials, None).value == pytest.approx((0.75 + 1.0) / 2)
    assert math.isnan(figures.accuracy(trials, None, "three").value)  # no noise among them
    trials += [judged("noise", "backchannel"), trial("noise")]
    assert figures.accuracy(trials, None, "three").value == pytest.approx((0.75 + 1.0 + 0.5) / 3)


def test_without_a_pause_an_interruption_is_wrong_and_a_backchannel_is_right() -> None:
    trials = [trial("interruption"), trial("backchannel")]
    assert figures.accuracy(trials, None).value == 0.5


def test_at_an_age_only_earlier_opinions_count() -> None:
    example = judged("interruption", "interruption", 300,
                 opinions=((100, 0.8, 0.1, 0.1), (140, 0.2, 0.7, 0.1)))  # fmt: skip
    assert figures.at_age(example, 60) == "no pause"
    assert figures.at_age(example, 100) == "backchannel"
    assert figures.at_age(example, 200) == "interruption"
    assert figures.odds_at(example, 99) is None
    assert figures.at_age(judged("noise", "noise", 150), 200) == "noise"


def test_confusion_counts_every_trial_once() -> None:
    trials = [judged("backchannel", "noise"), trial("noise"), judged("interruption", "backchannel")]
    counted = figures.confusion(trials)
    assert counted["backchannel"]["noise"] == counted["noise"]["no pause"] == 1
    assert sum(sum(row.values()) for row in counted.values()) == 3


def test_a_calibrated_judge_has_no_calibration_error_and_an_overconfident_one_has() -> None:
    calibrated = [trial("interruption" if n < 7 else "backchannel",
                        opinions=((100, 0.3, 0.7, 0.0),))
              for n in range(10)]  # fmt: skip
    overconfident = [trial("backchannel", opinions=((100, 0.1, 0.9, 0.0),))]
    assert figures.reliability(calibrated)[1] == pytest.approx(0.0, abs=1e-9)
    assert figures.reliability(overconfident)[1] == pytest.approx(0.9)
    assert figures.reliability([])[0] == []


def test_the_trade_off_runs_from_always_yielding_to_never_yielding() -> None:
    trials = [trial("interruption", opinions=((100, 0.2, p, 0.0),)) for p in (0.9, 0.6)]
    trials += [trial("backchannel", opinions=((100, 0.2, p, 0.0),)) for p in (0.7, 0.1)]
    points = figures.trade_off(trials, 300)
    assert points[0] == (0.0, 1.0)
    assert points[-1] == (1.0, 0.0)
    assert (0.5, 0.0) in points
    assert (0.0, 0.5) in points
    assert figures.trade_off([], 300) == []
