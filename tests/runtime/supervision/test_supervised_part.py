"""A supervised part: silence, an unkillable process, and a delayed start."""

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
def test_a_slow_start_is_not_restarted(parts: Make) -> None:
    supervisor = parts({"first": "is slow to come up"}, silent_s=0.5, start_s=10.0)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    assert (
        supervisor.parts["first"].starts == 1
    )  # silent four times as long as allowed once it is up


@pytest.mark.process
def test_a_part_waiting_for_its_start_causes_no_busy_loop(parts: Make) -> None:
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
    assert steps < 40  # a check every 0.25 s, and one for each beat of the other part


@pytest.mark.process
def test_an_unkillable_part_does_not_block_the_supervisor_and_is_not_duplicated(
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
def test_a_stop_does_not_wait_for_an_unkillable_part(parts: Make, tmp_path: Path) -> None:
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
    """A part that has not been started."""
    made = SupervisedPart(
        row("part", silent_s=2.0, start_s=10.0), Heartbeat(heartbeat.create(1), 0)
    )
    made.heart.reset(0)
    return made


def test_a_starting_part_has_more_patience(fresh: SupervisedPart) -> None:
    assert fresh.patience_s == 10.0
    fresh.heart.mark_loading()
    assert fresh.patience_s == 10.0
    fresh.heart.mark_ready()
    assert fresh.patience_s == 2.0


def test_a_part_without_a_process_is_neither_starting_nor_loading_nor_starving(
    fresh: SupervisedPart,
) -> None:
    fresh.heart.mark_loading()
    assert (fresh.starting, fresh.is_loading, fresh.has_beaten(1e9)) == (False, False, False)
    assert not fresh.starves(10**12)
    assert not fresh.stuck(1e9)


def test_a_part_waiting_to_be_started_is_well_and_a_failed_one_is_not(
    fresh: SupervisedPart,
) -> None:
    assert fresh.well(0.0, 10**12)
    fresh.failed = True
    assert not fresh.well(0.0, 10**12)


def test_a_crash_looping_part_is_not_well_even_while_it_is_up(fresh: SupervisedPart) -> None:
    for at_s in range(10):
        assert fresh.well(float(at_s), 0) == (at_s < 8)
        fresh.back_off.started(float(at_s))
        fresh.back_off.ended(float(at_s))


def test_silence_is_counted_from_the_last_beat_without_excused_time(fresh: SupervisedPart) -> None:
    fresh.heart.beat(1_000_000_000)
    assert fresh.silent_s(4_000_000_000) == 3.0
    for at in range(1, 4):  # the supervisor was late itself
        fresh.check_heartbeat(float(at), (1 + at) * 1_000_000_000, late_s=1.0)
    assert fresh.silent_s(4_000_000_000) < 3.0
