"""When speech is prefilled while it is still being spoken."""

from __future__ import annotations

import pytest

from appliance.pcm import RATE_HZ
from appliance.think.speculative_prefill import SpeculativePrefill


@pytest.mark.parametrize(
    ("seconds", "paused", "idle", "due"),
    [
        (0.15, False, True, False),  # too little to be worth it
        (0.16, False, True, True),
        (5.0, False, False, False),  # other work is pending
        (0.1, True, True, True),  # may be complete
        (0.1, True, False, True),
        (0.0, True, True, False),
    ],
)
def test_a_prefill_is_due_per_four_tokens_or_at_a_possible_end(
    seconds: float, paused: bool, idle: bool, due: bool
) -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, int(seconds * RATE_HZ), paused=paused, quiet=False, idle=idle) == due


def test_nothing_is_read_twice_and_the_next_utterance_starts_anew() -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, 20_000, paused=True, quiet=False, idle=True)
    assert not ahead.due(1, 20_000, paused=True, quiet=False, idle=True)
    assert not ahead.due(1, 22_400, paused=False, quiet=False, idle=True)
    assert ahead.due(1, 22_560, paused=False, quiet=False, idle=True)
    assert ahead.due(2, 16_000, paused=False, quiet=False, idle=True)


def test_a_slow_machine_reads_in_longer_pieces() -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, RATE_HZ, paused=False, quiet=False, idle=True)
    for seconds in (1.5, 2.0, 2.5):  # the first piece is still being read
        assert not ahead.due(1, int(seconds * RATE_HZ), paused=False, quiet=False, idle=False)
    # Then all the rest is due at once.
    assert ahead.due(1, int(2.6 * RATE_HZ), paused=False, quiet=False, idle=True)
    assert not ahead.due(1, int(2.7 * RATE_HZ), paused=False, quiet=False, idle=True)


def test_a_long_piece_does_not_delay_the_next_utterance() -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, 8 * RATE_HZ, paused=True, quiet=False, idle=True)
    assert ahead.due(2, int(0.16 * RATE_HZ), paused=False, quiet=False, idle=True)


def test_in_silence_no_piece_is_started_that_could_delay_the_end() -> None:
    ahead = SpeculativePrefill()
    assert not ahead.due(1, RATE_HZ, paused=False, quiet=True, idle=True)
    assert ahead.due(1, RATE_HZ, paused=True, quiet=True, idle=True)  # it may be the end
    assert not ahead.due(1, 2 * RATE_HZ, paused=False, quiet=True, idle=True)
    assert ahead.due(
        1, 2 * RATE_HZ + 320, paused=False, quiet=False, idle=True
    )  # the speech continued
