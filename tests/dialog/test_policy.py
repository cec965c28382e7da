"""The policy of the dialogue: its durations fit together."""

from __future__ import annotations

from appliance.dialog.policy import NEVER, DialogPolicy

POLICY = DialogPolicy()


def test_the_debounce_is_shorter_than_the_longest_wait() -> None:
    assert POLICY.resume_debounce_s < POLICY.rapid_interrupt_s < POLICY.max_resume_wait_s < NEVER


def test_a_model_that_reports_progress_may_think_longer_than_a_silent_one() -> None:
    assert POLICY.think_s < POLICY.max_think_s
