"""The card clock derives indices from coarse or late position readings, and tracks drift."""

from __future__ import annotations

import random

import pytest

from appliance.audio.card_clock import CardClock, Pair

SECOND = 1_000_000_000
BEGAN_NS = 5 * SECOND


def readings(
    count: int,
    *,
    every_ns: int = SECOND // 4,
    step: int = 1,
    ppm: float = 0.0,
    rate_hz: int = 16_000,
    since_ns: int = 0,
) -> list[Pair]:
    """Readings of a card that started at BEGAN_NS and whose position moves in steps of `step`."""
    pairs = []
    rng = random.Random(1)
    for n in range(count):
        after_ns = since_ns + n * every_ns + rng.randrange(every_ns // 4 if n else 1)
        frames = int(after_ns * rate_hz * (1 + ppm * 1e-6) / SECOND)
        pairs.append((BEGAN_NS + after_ns, frames - frames % step))
    return pairs


def test_an_index_is_the_monotonic_clock_in_samples() -> None:
    clock = CardClock()
    clock.start(readings(1))
    assert clock.index(0) == 80_000
    assert clock.index(16_000) == 96_000


@pytest.mark.parametrize("step", [1, 16, 80])
def test_a_coarse_position_does_not_shift_the_index(step: int) -> None:
    clock = CardClock()
    clock.start(readings(40, every_ns=250_000, step=step))
    assert abs(clock.index(0) - 80_000) <= 1


def test_delayed_readings_do_not_shift_the_index() -> None:
    clock = CardClock()
    held_up = [(ns + 7_000_000, frames) for ns, frames in readings(11, every_ns=250_000)]
    clock.start([*held_up, *readings(1, since_ns=3_000_000)])
    assert abs(clock.index(0) - 80_000) <= 1


def test_at_48_khz_an_index_is_three_frames_and_includes_the_filter_delay() -> None:
    clock = CardClock(factor=3, delay=-16)
    clock.start(readings(12, every_ns=250_000, rate_hz=48_000))
    assert clock.index(480) == 80_000 + 160 - 16


def test_streams_that_start_at_different_times_agree() -> None:
    one, other = CardClock(), CardClock()
    one.start(readings(12, every_ns=250_000))
    other.start([(ns + SECOND, frames) for ns, frames in readings(12, every_ns=250_000)])
    assert abs(one.index(16_000 + 5) - other.index(5)) <= 1


def test_a_restarted_stream_continues_with_the_lead_of_the_first() -> None:
    """After an hour at 50 ppm the card is 2,880 samples ahead, and a restart must not jump back."""
    hour_ns, ppm, later_ns = 3600 * SECOND, 50.0, 3608 * SECOND
    running = CardClock()
    running.start(readings(12, every_ns=250_000, ppm=ppm))
    for pair in readings(32, since_ns=hour_ns, ppm=ppm):
        running.observe(pair)
    assert running.lead == pytest.approx(2885, abs=3)
    new = CardClock()
    new.start([(BEGAN_NS + later_ns, 0)], running.lead or 0)
    frames_then = int(later_ns * 16_000 * (1 + ppm * 1e-6) / SECOND)
    assert abs(new.index(0) - running.index(frames_then)) <= 2
