"""When to read ahead."""

from __future__ import annotations

import pytest

from appliance.pcm import RATE_HZ
from appliance.think.speculative_prefill import SpeculativePrefill


@pytest.mark.parametrize(
    ("seconds", "paused", "idle", "due"),
    [
        (0.15, False, True, False),  # too little to be worth it
        (0.16, False, True, True),
        (5.0, False, False, False),  # there is other work
        (0.1, True, True, True),  # may have been all
        (0.1, True, False, True),
        (0.0, True, True, False),
    ],
)
def test_it_reads_ahead_four_tokens_at_a_time_or_when_it_may_be_all(
    seconds: float, paused: bool, idle: bool, due: bool
) -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, int(seconds * RATE_HZ), paused=paused, quiet=False, idle=idle) == due


def test_nothing_is_read_twice_and_the_next_utterance_begins_afresh() -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, 20_000, paused=True, quiet=False, idle=True)
    assert not ahead.due(1, 20_000, paused=True, quiet=False, idle=True)
    assert not ahead.due(1, 22_400, paused=False, quiet=False, idle=True)
    assert ahead.due(1, 22_560, paused=False, quiet=False, idle=True)
    assert ahead.due(2, 16_000, paused=False, quiet=False, idle=True)


def test_a_slow_machine_reads_in_longer_pieces() -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, RATE_HZ, paused=False, quiet=False, idle=True)
    for seconds in (1.5, 2.0, 2.5):  # it is at the first piece
        assert not ahead.due(1, int(seconds * RATE_HZ), paused=False, quiet=False, idle=False)
    # And then at all the rest.
    assert ahead.due(1, int(2.6 * RATE_HZ), paused=False, quiet=False, idle=True)
    assert not ahead.due(1, int(2.7 * RATE_HZ), paused=False, quiet=False, idle=True)


def test_a_piece_that_took_long_does_not_hold_back_the_next_utterance() -> None:
    ahead = SpeculativePrefill()
    assert ahead.due(1, 8 * RATE_HZ, paused=True, quiet=False, idle=True)
    assert ahead.due(2, int(0.16 * RATE_HZ), paused=False, quiet=False, idle=True)


def test_while_nobody_speaks_no_piece_is_begun_that_the_end_would_wait_for() -> None:
    ahead = SpeculativePrefill()
    assert not ahead.due(1, RATE_HZ, paused=False, quiet=True, idle=True)
    assert ahead.due(1, RATE_HZ, paused=True, quiet=True, idle=True)  # it may have been the end
    assert not ahead.due(1, 2 * RATE_HZ, paused=False, quiet=True, idle=True)
    assert ahead.due(1, 2 * RATE_HZ + 320, paused=False, quiet=False, idle=True)  # they went on
