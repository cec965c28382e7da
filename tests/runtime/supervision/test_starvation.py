"""Telling a hung process from one without CPU time, by scheduler readings and times."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from appliance.runtime.supervision.procfs import SchedulerReading
from appliance.runtime.supervision.starvation import (
    CALM_S,
    DISK_S,
    SHEDS,
    STEP_S,
    LoadShedding,
    SilenceMeter,
    starves,
)

STEP = 0.25  # seconds between two looks


@dataclass(frozen=True)
class Behaviour:
    """A process's state, and the shares of each second on the CPU and in the run queue."""

    state: str
    runs: float = 0.0
    waits: float = 0.0
    late_s: float = 0.0  # how late the supervisor's check runs


def silent(behaviour: Behaviour, for_s: float, *, known: bool = True) -> tuple[float, float]:
    """A process stays silent for `for_s`. Returns its own and its excused silence."""
    silence, own_s = SilenceMeter(), 0.0
    for number in range(round(for_s / STEP) + 1):
        at = number * STEP
        waited = {1: 5.0 + behaviour.waits * at, 2: 7.0}
        reading = SchedulerReading(behaviour.state, 3.0 + behaviour.runs * at, waited)
        own_s = silence.update(100.0 + at, at, reading if known else None, behaviour.late_s)
    return own_s, silence.excused_s


@pytest.mark.parametrize(
    ("behaviour", "own_s"),
    [
        (Behaviour("T"), 10.0),  # stopped by a signal
        (Behaviour("S"), 10.0),  # sleeps and is never woken
        (Behaviour("R", runs=1.0), 10.0),  # an endless loop, on an idle machine
        (Behaviour("S", waits=0.01), 9.9),
        (Behaviour("R", runs=0.2, waits=0.8), 2.0),  # the same loop under load: 2 s of CPU time
        (Behaviour("R", runs=0.05, waits=0.95), 0.5),  # starves
        (
            Behaviour("R", runs=0.0, waits=0.0),
            0.0,
        ),  # starves; the kernel adds a wait only at its end
        (Behaviour("S", runs=0.0, waits=0.9), 1.0),  # waits for a starving thread
        (Behaviour("D"), 0.0),  # waits for the SD card
        (Behaviour("S", late_s=0.25), 0.0),  # the supervisor did not run, so perhaps no process did
        (Behaviour("T", late_s=0.05), 8.0),
    ],
)
def test_only_time_in_which_a_beat_was_possible_counts(behaviour: Behaviour, own_s: float) -> None:
    assert silent(behaviour, 10.0)[0] == pytest.approx(own_s, abs=0.01)


def test_without_a_scheduler_reading_all_of_the_silence_counts() -> None:
    assert silent(Behaviour("R", waits=1.0), 10.0, known=False) == (10.0, 0.0)


def test_a_process_stuck_in_a_driver_counts_as_hung_after_the_limit() -> None:
    own_s, excused_s = silent(Behaviour("D"), DISK_S + 10.0)
    assert own_s == pytest.approx(10.0)
    assert excused_s == DISK_S


def test_a_heartbeat_resets_the_silence() -> None:
    silence, waited = SilenceMeter(), 0.0
    for at in range(8):
        waited += 0.9
        silence.update(float(at), float(at), SchedulerReading("S", 0.0, {1: waited}), 0.0)
    assert silence.excused_s > 5.0
    assert silence.update(8.0, 0.1, SchedulerReading("S", 0.0, {1: waited}), 0.0) == pytest.approx(
        0.1
    )
    assert silence.update(9.0, 1.1, SchedulerReading("S", 0.0, {1: waited}), 0.0) == pytest.approx(
        1.1
    )


def test_the_earlier_waits_of_a_new_thread_do_not_count() -> None:
    silence = SilenceMeter()
    silence.update(0.0, 0.0, SchedulerReading("S", 0.0, {1: 0.0}), 0.0)
    assert silence.update(1.0, 1.0, SchedulerReading("S", 0.0, {1: 0.0, 9: 500.0}), 0.0) == 1.0


@pytest.mark.parametrize(
    ("silent_s", "excused_s", "expected"),
    [(1.1, 1.0, True), (0.9, 0.9, False), (1.5, 0.5, False), (10.0, 9.0, True)],
)
def test_a_process_starves_if_waiting_used_half_of_its_patience(
    silent_s: float, excused_s: float, expected: bool
) -> None:
    assert starves(silent_s, excused_s, patience_s=2.0) is expected


def test_words_are_shed_first_and_then_read_ahead_and_both_return() -> None:
    shedding = LoadShedding()
    seen: list[tuple[int, int]] = []
    for number in range(round(3 * CALM_S)):
        shedding.update(float(number), starved=5 <= number < 20)
        if not seen or shedding.level != seen[-1][1]:
            seen.append((number, shedding.level))
    calm = 19 + CALM_S
    assert seen == [(0, 0), (5, 1), (5 + STEP_S, 2), (calm, 1), (calm + CALM_S, 0)]
    assert SHEDS == ("words", "read-ahead")


def test_on_an_idle_machine_a_hung_part_is_restarted_at_once() -> None:
    shedding = LoadShedding()
    assert shedding.may_restart(0.0, queued_s=0.1, patience_s=5.0, others_start=True, started_s=0.0)
    assert shedding.may_start(0.0, others_start=True, started_s=0.0)
    assert shedding.level == 0


@pytest.mark.parametrize("level", [0, 1])
def test_under_load_everything_is_shed_before_a_restart(level: int) -> None:
    shedding = LoadShedding()
    shedding.level = level
    restart = [
        shedding.may_restart(at, queued_s=3.0, patience_s=5.0, others_start=False, started_s=99.0)
        for at in (100.0, 104.0, 105.0)
    ]
    assert restart == [False, False, True]
    assert shedding.level == len(SHEDS)


def test_under_load_one_part_is_started_at_a_time() -> None:
    shedding = LoadShedding()
    shedding.level = len(SHEDS)
    late = {"queued_s": 3.0, "patience_s": 5.0}
    assert not shedding.may_restart(100.0, **late, others_start=True, started_s=96.0)
    assert shedding.may_restart(100.0, **late, others_start=True, started_s=94.0)
    assert shedding.may_restart(100.0, **late, others_start=False, started_s=99.9)
    assert not shedding.may_start(100.0, others_start=True, started_s=96.0)
    assert shedding.may_start(100.0, others_start=True, started_s=94.0)
    assert shedding.may_start(100.0, others_start=False, started_s=99.9)


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("patience_s", [5.0, 15.0, 60.0])
def test_a_hung_part_is_restarted_even_if_the_load_ends_meanwhile(
    level: int, patience_s: float
) -> None:
    """The load ends, and shed parts would return before the patience is over."""
    shedding = LoadShedding()
    shedding.level = level
    for at in range(1000):
        now_s = 100.0 + at * STEP
        shedding.update(now_s, starved=False)
        if shedding.may_restart(
            now_s, queued_s=patience_s, patience_s=patience_s, others_start=False, started_s=0.0
        ):
            break
    assert at * STEP == pytest.approx(patience_s, abs=STEP)


def test_a_wait_in_the_kernel_does_not_count_as_waiting_for_the_cpu() -> None:
    silence = SilenceMeter()
    for number in range(9):
        silence.update(100.0 + number, float(number), SchedulerReading("D", 3.0, {1: 5.0}), 0.0)
    assert (silence.excused_s, silence.queued_s) == (8.0, 0.0)


def test_without_a_disk_allowance_a_disk_wait_is_not_excused() -> None:
    silence = SilenceMeter()
    for number in range(9):
        own_s = silence.update(
            100.0 + number, float(number), SchedulerReading("D", 3.0, {1: 5.0}), 0.0, 0.0
        )
    assert own_s == 8.0
