"""The supervisor: parts that end, hang or never come up, orderly stop, and the status file."""

from __future__ import annotations

import os
import re
import resource
import signal
import time
from pathlib import Path

import pytest

from appliance.messages.supervision import PartChanged
from appliance.runtime import status
from appliance.runtime.enabled import rows_to_run
from appliance.runtime.supervision.backoff import FAILED_AT
from appliance.settings import load
from tests import skips
from tests.runtime.small_parts import Make, mail, pid, until
from tests.runtime.supervision.box import load_of

LOWEST = 8  # a limit of descriptors with which poll(2) still takes those of the supervisor
pytestmark = pytest.mark.process


def test_parts_come_up_in_the_order_of_the_table(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    assert pid(supervisor, "first") < pid(supervisor, "second")
    assert supervisor.is_ready
    assert supervisor.healthy
    assert {m.part for m in mail(supervisor) if isinstance(m, PartChanged)} == {"first", "second"}


def test_a_killed_part_is_restarted_and_the_other_is_left_alone(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    mail(supervisor)
    victim, other = pid(supervisor, "first"), pid(supervisor, "second")
    os.kill(victim, signal.SIGKILL)
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip
    assert pid(supervisor, "second") == other
    assert mail(supervisor) == [
        PartChanged("first", "down", "was ended by SIGKILL"),
        PartChanged("first", "up"),
    ]


def test_a_frozen_part_is_killed_and_restarted(parts: Make) -> None:
    supervisor = parts({"first": "works"}, silent_s=0.5)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    victim = pid(supervisor, "first")
    os.kill(victim, signal.SIGSTOP)
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip
    downs = [m for m in mail(supervisor) if isinstance(m, PartChanged) and m.state == "down"]
    assert "did not beat" in downs[0].problem


def test_a_crash_looping_part_is_reported_as_failed_once_and_restarted_with_back_off(
    parts: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """The pauses grow and are observed. How long the starts take depends on the machine."""
    supervisor = parts({"first": "dies at once", "second": "works"})
    supervisor.start()
    part = supervisor.parts["first"]
    for starts in range(2, FAILED_AT + 2):
        until(supervisor, lambda starts=starts: part.starts == starts)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        assert time.monotonic() >= part.start_s  # not before the end of its pause
    pauses = re.findall(r"first exited with code 3; starting it again( in [\d.]+ s)?", caplog.text)
    assert pauses[:FAILED_AT] == ["", " in 0.25 s", " in 0.5 s", " in 1 s", " in 2 s"]
    assert mail(supervisor).count(PartChanged("first", "failed", "exited with code 3")) == 1
    assert part.failed
    assert supervisor.parts["second"].child is not None
    assert not supervisor.healthy


def test_a_failed_part_is_retried_and_recovers_once_it_is_up(parts: Make, tmp_path: Path) -> None:
    cure = tmp_path / "cure"
    supervisor = parts({"first": f"works once there is {cure}"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].failed)
    cure.touch()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    assert not supervisor.parts["first"].failed
    states = [m.state for m in mail(supervisor) if isinstance(m, PartChanged)]
    assert states[-2:] == ["failed", "up"]
    assert supervisor.healthy


def test_a_restarted_conductor_learns_which_parts_have_failed(parts: Make) -> None:
    supervisor = parts({"conductor": "works", "second": "dies at once"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["second"].failed)
    mail(supervisor)
    victim = pid(supervisor, "conductor")
    os.kill(victim, signal.SIGKILL)
    until(supervisor, lambda: supervisor.parts["conductor"].announced
          and pid(supervisor, "conductor") != victim)  # fmt: skip
    assert mail(supervisor) == [PartChanged("second", "failed", "exited with code 3")]


def test_no_part_is_told_about_itself(parts: Make) -> None:
    """Its unread messages wait for the next conductor, which would read of its own failure."""
    supervisor = parts({"conductor": "dies at once", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["conductor"].failed)
    until(supervisor, lambda: supervisor.parts["second"].announced)
    assert mail(supervisor) == [PartChanged("second", "up")]


def test_the_box_stays_healthy_without_an_optional_part(parts: Make) -> None:
    supervisor = parts({"first": "dies at once"}, needed=False)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].failed)
    assert supervisor.healthy


def test_a_part_that_cannot_be_spawned_is_retried_and_the_other_continues(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    mail(supervisor)
    other = pid(supervisor, "second")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    victim = pid(supervisor, "first")
    filled = [os.dup(0) for _ in range(LOWEST)]  # with these all numbers below are in use
    resource.setrlimit(resource.RLIMIT_NOFILE, (LOWEST, hard))
    try:  # no descriptor is left, similar to no process left at TasksMax=
        os.kill(victim, signal.SIGKILL)
        until(supervisor, lambda: supervisor.parts["first"].starts >= 4)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for fd in filled:
            os.close(fd)
    until(supervisor, lambda: supervisor.parts["first"].announced)
    assert pid(supervisor, "second") == other
    problems = [m.problem for m in mail(supervisor) if isinstance(m, PartChanged)]
    assert any("could not be checked" in problem for problem in problems)


def test_parts_that_never_come_up_are_restarted(parts: Make) -> None:
    supervisor = parts(dict.fromkeys(("first", "second"), "never comes up"), start_s=1.0)
    supervisor.start()
    until(supervisor, lambda: all(part.starts == 2 for part in supervisor.parts.values()), 60.0)


def test_a_part_that_runs_without_beating_is_killed_and_restarted(parts: Make) -> None:
    supervisor = parts({"first": "spins"}, silent_s=0.5)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    victim = pid(supervisor, "first")
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip


def test_a_part_without_cpu_time_is_not_restarted_and_the_box_sheds_load(
    parts: Make, caplog: pytest.LogCaptureFixture
) -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip(skips.WAITS)
    core = min(os.sched_getaffinity(0))
    supervisor = parts({"first": f"shares core {core}", "second": "works"}, silent_s=1.0)
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    part, ages = supervisor.parts["first"], [0.0]

    def overdue() -> bool:
        ages.append(part.heart.age_s(time.monotonic_ns()))
        return max(ages) > 2.5  # two and a half times the allowed silence

    with load_of(9, core):
        until(supervisor, overdue, 60.0)
        assert supervisor.healthy
        assert supervisor.floor().strain > 0
        assert [other.starts for other in supervisor.parts.values()] == [1, 1]
    assert caplog.text.count("too little processor time: the box does without words\n") == 1
    until(supervisor, lambda: part.heart.age_s(time.monotonic_ns()) < 0.1)
    supervisor.run_once(0.02)
    assert part.starts == 1
    assert supervisor.healthy


def test_a_stop_ends_every_part_even_frozen_and_unresponsive_ones(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "ignores stop"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    pids = [pid(supervisor, name) for name in supervisor.parts]
    os.kill(pids[0], signal.SIGSTOP)
    supervisor.stop_all()
    for ended in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(ended, 0)


def test_the_first_part_ends_after_the_others(parts: Make, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    supervisor = parts(dict.fromkeys(("first", "second", "third"), f"notes its end in {notes}"))
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)
    supervisor.stop_all()
    ended = notes.read_text().split()
    assert sorted(ended[:2]) == ["second", "third"]
    assert ended[2:] == ["first"]


def test_a_mute_switch_that_no_part_reads_keeps_the_microphone_muted(parts: Make) -> None:
    own = load(None, {"panel": {"gpio": "none", "mute_switch": True}})
    assert "panel" not in {row.name for row in rows_to_run(own, words=False)}
    supervisor = parts({"conductor": "works"}, own=own)
    floor = supervisor.floor()
    assert floor.cut
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)
    assert floor.microphone_off
    supervisor.stop_all()
    assert floor.cut


def test_a_restart_request_stops_all_parts_and_is_recorded(parts: Make) -> None:
    supervisor = parts({"conductor": "wants to begin anew", "capture": "lives"})
    supervisor.run()
    assert supervisor.restarting
    assert all(part.child is None and not part.failed for part in supervisor.parts.values())


def test_a_stop_request_is_not_a_restart(parts: Make) -> None:
    supervisor = parts({"conductor": "lives"})
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)
    supervisor.request_stop()
    assert not supervisor.restarting


def test_the_status_file_reports_the_state_and_failed_parts(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    supervisor = parts({"conductor": "says that it speaks", "second": "works"})
    supervisor.start()
    until(
        supervisor,
        lambda: bool((found := status.read_status(tmp_path)) and found.well and found.talking),
    )
    supervisor.parts["second"].failed = True
    supervisor.run_once()
    found = status.read_status(tmp_path)
    assert found is not None
    assert found.failed == ("second",)
    assert found.pid == os.getpid()
