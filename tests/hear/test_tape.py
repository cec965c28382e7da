"""The tape gives back what lies at an index, and zeros where nothing is known."""

from __future__ import annotations

import numpy as np

from appliance.hear.tape import Tape
from appliance.ipc.ring import Samples


def ramp(first: int, frames: int) -> Samples:
    return (np.arange(first, first + frames) % 30_000 + 1).astype(np.int16)


def test_what_was_put_in_comes_out_across_the_wrap() -> None:
    tape = Tape(1000)
    for first in range(0, 5000, 80):
        tape.put(first, ramp(first, 80))
    assert np.array_equal(tape.take(4100, 900), ramp(4100, 900))


def test_what_is_too_old_or_not_yet_there_is_zeros() -> None:
    tape = Tape(1000)
    tape.put(0, ramp(0, 1000))
    tape.put(1000, ramp(1000, 80))
    assert np.array_equal(tape.take(40, 80), np.append(np.zeros(40), ramp(80, 40)))
    assert np.array_equal(tape.take(1040, 80), np.append(ramp(1040, 40), np.zeros(40)))


def test_a_gap_reads_as_zeros_and_not_as_what_lay_there_before() -> None:
    tape = Tape(1000)
    for first in range(0, 2000, 80):
        tape.put(first, ramp(first, 80))
    tape.put(2400, ramp(2400, 80))
    assert not tape.take(2000, 400).any()
    assert np.array_equal(tape.take(2400, 80), ramp(2400, 80))


def test_a_jump_back_or_far_ahead_forgets_what_was_before() -> None:
    tape = Tape(1000)
    tape.put(50_000, ramp(50_000, 80))
    tape.put(0, ramp(0, 80))
    assert np.array_equal(tape.take(0, 80), ramp(0, 80))
    tape.put(10**9, ramp(0, 80))
    assert not tape.take(10**9 - 500, 500).any()
    assert np.array_equal(tape.take(10**9, 80), ramp(0, 80))
