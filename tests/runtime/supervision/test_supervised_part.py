"""One part: silent, stuck, waiting for its turn."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from appliance.runtime.ipc import heartbeat
from appliance.runtime.ipc.heartbeat import Heartbeat
from appliance.runtime.supervision import supervised_part as parts_of_the_box
from appliance.runtime.supervision.starvation import SHEDS
from appliance.runtime.supervision.supervised_part import SupervisedPart
from tests import skips
from tests.runtime.small_parts import Make, pid, row, until


@pytest.mark.process
def test_a_part_may_take_its_time_to_come_up(parts: Make) -> None:
    supervisor = parts({"first": "is slow to come up"}, silent_s=0.5, start_s=10.0)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    assert supervisor.parts["first"].starts == 1  # silent for four times as long as later on


@pytest.mark.process
def test_a_part_that_waits_for_its_turn_to_start_costs_no_processor(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "never comes up"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    now = time.monotonic()
    supervisor._strain.level = len(SHEDS)
    supervisor._strain._changed_s = supervisor._spawned_s = now
    os.kill(pid(supervisor, "first"), signal.SIGKILL)
    until(supervisor, lambda: supervisor.parts["first"].child is None)
    steps = 0
    while time.monotonic() - now < 2.0:  # it may start 5 s after the other
        supervisor.run_once()
        steps += 1
    assert supervisor.parts["first"].child is None
    assert steps < 40  # a look each quarter of a second, and each beat of the other


@pytest.mark.process
def test_a_part_that_cannot_be_ended_keeps_nobody_waiting_and_gets_no_twin(
    parts: Make, tmp_path: Path
) -> None:
    supervisor = parts({"first": "is held after its death", "second": "works"}, silent_s=0.5)
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    if (tmp_path / "doubles/first.held").read_bytes() != b"y":
        pytest.skip(skips.TRACING)
    victim = pid(supervisor, "first")
    os.kill(victim, signal.SIGSTOP)
    until(supervisor, lambda: supervisor.parts["first"].ending)
    began, steps = time.monotonic(), 0
    while time.monotonic() - began < parts_of_the_box.STUCK_S + 1.0:
        supervisor.run_once(0.02)
        steps += 1
    assert steps > 100
    assert pid(supervisor, "first") == victim
    assert supervisor.parts["first"].failed
    assert supervisor.parts["second"].announced
    assert not supervisor.healthy
    (tmp_path / "doubles/first.free").touch()
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip


@pytest.mark.process
def test_a_stop_does_not_wait_for_a_part_that_cannot_be_ended(parts: Make, tmp_path: Path) -> None:
    supervisor = parts({"first": "works", "second": "is held after its death"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    if (tmp_path / "doubles/second.held").read_bytes() != b"y":
        pytest.skip(skips.TRACING)
    began = time.monotonic()
    supervisor.stop_all()
    assert time.monotonic() - began < 8.0
    (tmp_path / "doubles/second.free").touch()


# ── without a process ────────────────────────────────────────────────────────────────────────
@pytest.fixture
def fresh() -> SupervisedPart:
    """Not started yet."""
    made = SupervisedPart(
        row("part", silent_s=2.0, start_s=10.0), Heartbeat(heartbeat.create(1), 0)
    )
    made.heart.reset(0)
    return made


def test_a_part_may_be_silent_for_longer_while_it_starts(fresh: SupervisedPart) -> None:
    assert fresh.patience_s == 10.0
    fresh.heart.mark_loading()
    assert fresh.patience_s == 10.0
    fresh.heart.mark_ready()
    assert fresh.patience_s == 2.0


def test_a_part_without_a_process_neither_starts_nor_reads_nor_starves(
    fresh: SupervisedPart,
) -> None:
    fresh.heart.mark_loading()
    assert (fresh.starting, fresh.is_loading, fresh.has_beaten(1e9)) == (False, False, False)
    assert not fresh.starves(10**12)
    assert not fresh.stuck(1e9)


def test_a_part_that_waits_to_be_started_is_well_and_one_that_has_failed_is_not(
    fresh: SupervisedPart,
) -> None:
    assert fresh.well(0.0, 10**12)
    fresh.failed = True
    assert not fresh.well(0.0, 10**12)


def test_a_part_that_keeps_ending_is_not_well_although_it_is_up(fresh: SupervisedPart) -> None:
    for at_s in range(10):
        assert fresh.well(float(at_s), 0) == (at_s < 8)
        fresh.back_off.started(float(at_s))
        fresh.back_off.ended(float(at_s))


def test_silence_is_counted_from_the_last_beat_without_what_it_could_not_help(
    fresh: SupervisedPart,
) -> None:
    fresh.heart.beat(1_000_000_000)
    assert fresh.silent_s(4_000_000_000) == 3.0
    for at in range(1, 4):  # the supervisor did not run either
        fresh.check_heartbeat(float(at), (1 + at) * 1_000_000_000, late_s=1.0)
    assert fresh.silent_s(4_000_000_000) < 3.0
