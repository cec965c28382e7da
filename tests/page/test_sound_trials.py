"""What is tried with sound, as the page follows it: one at a time, and each comes to an end."""

from __future__ import annotations

import pytest

from appliance.messages.commands import StateChanged
from appliance.messages.trying import TrialRefused
from appliance.page.sound_trials import LONGEST_S, SoundTrials


def state(name: str) -> StateChanged:
    return StateChanged(name, 1, 0)  # type: ignore[arg-type]  # one of its names


def begun() -> SoundTrials:
    trials = SoundTrials()
    assert trials.begin("tone", 100.0) is not None
    return trials


def test_a_tone_is_under_way_from_the_wish_to_its_last_sample() -> None:
    trials = begun()
    assert trials.handle(state("speaking"), 100.2) == [{"k": "trial", "phase": "playing"}]
    assert trials.handle(state("holding"), 101.0) == []
    assert trials.under_way
    assert trials.handle(state("idle"), 106.0) == [{"k": "trial", "phase": "done"}]
    assert not trials.under_way


def test_a_second_one_waits_until_the_first_is_over() -> None:
    trials = begun()
    assert trials.begin("tone", 100.1) is None
    trials.handle(TrialRefused(trials.number, "busy"), 100.2)
    again = trials.begin("tone", 100.3)
    assert again is not None
    assert again.number == trials.number


def test_a_refusal_is_that_of_its_own_trial() -> None:
    trials = begun()
    assert trials.handle(TrialRefused(trials.number - 1, "busy"), 100.1) == []
    assert trials.handle(TrialRefused(trials.number, "no-voice"), 100.2)
    assert (trials.phase, trials.why) == ("refused", "no-voice")
    assert trials.handle(TrialRefused(trials.number, "busy"), 100.3) == [], "it is over"
    assert trials.why == "no-voice"


def test_an_answer_that_never_comes_ends_it() -> None:
    trials = begun()
    assert trials.expire(100.0 + LONGEST_S["asked"]) == []
    assert trials.expire(100.1 + LONGEST_S["asked"])
    assert (trials.phase, trials.why) == ("refused", "no-answer")


@pytest.mark.parametrize("late_s", [LONGEST_S["playing"] + 0.1, 86_400.0])
def test_a_message_that_is_lost_keeps_nothing_under_way(late_s: float) -> None:
    trials = begun()
    trials.handle(state("speaking"), 100.0)
    assert trials.begin("tone", 100.0 + late_s) is not None
