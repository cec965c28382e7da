"""Which ends of the supervisor count as bad, and after how many of them the box is given up."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.errors import SettingsError
from appliance.runtime.supervision import failure_rate
from system.usr.lib.interlude import ended, fallback
from system.usr.lib.interlude.ended import HOT_S, MOST, NO_RESTART, WINDOW_S, End, judge
from tests.system.test_units import unit

SCRIPT = Path(__file__).parents[2] / "system/usr/lib/interlude/ended.py"
BAD = End("exit-code", 70, asked=False, lived_s=10.0)
IN_ORDER = End("success", 0, asked=False, lived_s=600.0)


def given_up_at(ends: list[End], every_s: float = 60.0) -> int | None:
    """The number of the end after which the box is given up, counted from 1."""
    counted: tuple[float, ...] = ()
    for number, end in enumerate(ends, 1):
        counted, up = judge(counted, end, number * every_s)
        if up:
            return number
    return None


# ── what counts ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "bad",
    [
        BAD,
        End("signal", 0, asked=False, lived_s=1e6),
        End("watchdog", 0, asked=False, lived_s=330.0),
        End("timeout", 0, asked=False, lived_s=200.0),
        End("protocol", 0, asked=False, lived_s=0.1),
        End("exit-code", 77, asked=False, lived_s=10.0),
        End("success", 0, asked=False, lived_s=HOT_S - 1),
    ],
)
def test_the_fourth_bad_end_gives_the_box_up_and_restarts_the_count(bad: End) -> None:
    assert given_up_at([bad] * 10) == MOST
    counted, up = judge((1.0, 2.0, 3.0), bad, 4.0)
    assert (counted, up) == ((), True)


@pytest.mark.parametrize(
    "end",
    [
        IN_ORDER,
        replace(BAD, asked=True),
        End("timeout", 0, asked=True, lived_s=5.0),  # a stop by hand that needed SIGKILL
        End("success", 0, asked=True, lived_s=1.0),
    ],
)
def test_a_requested_end_and_a_regular_one_never_count(end: End) -> None:
    assert given_up_at([end] * 1000, every_s=2.0) is None


def test_a_restart_by_hand_resets_the_count() -> None:
    by_hand = End("success", 0, asked=True, lived_s=20.0)
    assert given_up_at([BAD] * (MOST - 1) + [by_hand] + [BAD] * MOST) == 2 * MOST


def test_a_regular_restart_between_bad_ends_does_not_reset_the_count() -> None:
    assert given_up_at([BAD, IN_ORDER, BAD, IN_ORDER, BAD, IN_ORDER, BAD]) == 7


def test_bad_ends_count_for_half_an_hour() -> None:
    assert given_up_at([BAD] * 50, every_s=WINDOW_S / (MOST - 1) + 1) is None
    assert given_up_at([BAD] * 50, every_s=WINDOW_S / (MOST - 1) - 1) == MOST


def test_ends_with_a_no_restart_code_are_not_counted() -> None:
    for status in NO_RESTART:
        assert given_up_at([End("exit-code", status, asked=False, lived_s=3.0)] * 50) is None
    assert judge((1.0, 2.0, 3.0), End("exit-code", 79, False, 3.0), 4.0) == ((), False)
    assert given_up_at([End("signal", 0, asked=False, lived_s=3.0)] * 50) == MOST


@pytest.mark.parametrize(
    ("period_s", "within_min"), [(20.0, 5.0), (60.0, 13.0), (120.0, 25.0), (180.0, 37.0)]
)
def test_under_systemd_a_required_part_that_keeps_crashing_costs_the_release(
    period_s: float, within_min: float
) -> None:
    """By the exit code of the supervisor and the two failures that cost a release."""
    ends, now_s = failure_rate.FailureRate(), 0.0
    note, links = fallback.Note(), list[str]()
    while not links:
        now_s += period_s
        ends.ended(now_s)
        if ends.too_many:
            seen = fallback.Seen("1.2.0", "1.1.0", frozenset({"1.1.0", "1.2.0"}), "exit-code",
                                 failure_rate.EXIT_CODE, "boot", now_s)  # fmt: skip
            made = fallback.decide(note, seen)
            note, ends = made.note, failure_rate.FailureRate()
            now_s += made.wait_s
            links += [made.link] * bool(made.link)
    assert links == ["1.1.0"]
    assert note.why == "a part that it needs ended again and again"
    assert now_s <= 60 * within_min


# ── consistency with the unit ────────────────────────────────────────────────────────────────
def test_the_unit_and_the_programs_use_the_same_exit_codes() -> None:
    codes = {int(word) for word in unit("interlude.service")["RestartPreventExitStatus"][0].split()}
    assert codes == NO_RESTART == {SettingsError.exit_code, failure_rate.EXIT_CODE}
    assert failure_rate.EXIT_CODE == fallback.KEEPS_ENDING


def test_the_window_is_long_enough_for_the_slowest_failing_starts() -> None:
    """Otherwise a box whose start hangs is restarted forever, and nothing else is tried."""
    keys = {key: values[0] for key, values in unit("interlude.service").items()}
    start_s = sum(int(keys[key]) for key in ("TimeoutStartSec", "TimeoutStopSec", "RestartSec"))
    assert start_s * MOST < WINDOW_S


def test_the_start_limit_of_systemd_is_not_reached_by_counted_ends() -> None:
    keys = {key: values[0] for key, values in unit("interlude.service").items()}
    burst, interval_s = int(keys["StartLimitBurst"]), int(keys["StartLimitIntervalSec"])
    assert interval_s / burst < 10  # restarts by hand are slower
    # A box that dies at once does not reach it.
    assert burst * 4 * int(keys["RestartSec"]) < interval_s


# ── as systemd runs it ───────────────────────────────────────────────────────────────────────
def run(folder: Path, job: str = "", began_ago_s: float = 10.0, **environment: str) -> str:
    """Run the script as systemd does. `job`: the job of the unit that systemctl lists."""
    began_us = int((time.monotonic() - began_ago_s) * 1e6)
    systemctl = folder / "systemctl"
    line = f"echo '1234 interlude.service {job} running'" if job else ":"
    systemctl.write_text(
        f"#!/bin/sh\ncase $1 in show) echo {began_us} ;; list-jobs) {line} ;; esac\n"
    )
    systemctl.chmod(0o755)
    result = {
        "SERVICE_RESULT": "signal",
        "EXIT_CODE": "killed",
        "EXIT_STATUS": "KILL",
        **environment,
    }
    places = {"INTERLUDE_RELEASE": str(folder), "INTERLUDE_SYSTEMCTL": str(systemctl)}
    done = subprocess.run([SCRIPT], env={**os.environ, **result, **places}, capture_output=True,
                          text=True, check=False, timeout=30)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
def test_four_ends_by_a_signal_write_the_mark_with_the_last_result(tmp_path: Path) -> None:
    for _ in range(MOST - 1):
        assert run(tmp_path) == ""
        assert not (tmp_path / ended.GIVEN_UP).exists()
    assert "4 bad ends within 30 min" in run(tmp_path)
    assert (tmp_path / ended.GIVEN_UP).read_text() == "signal 0\n"
    assert json.loads((tmp_path / ended.ENDS).read_text()) == []


@pytest.mark.process
def test_the_exit_code_is_written_to_the_mark(tmp_path: Path) -> None:
    for _ in range(MOST):
        run(tmp_path, SERVICE_RESULT="exit-code", EXIT_CODE="exited", EXIT_STATUS="70")
    assert (tmp_path / ended.GIVEN_UP).read_text() == "exit-code 70\n"


@pytest.mark.process
@pytest.mark.parametrize("job", ["stop", "restart", "try-restart"])
def test_an_end_during_a_stop_job_counts_as_requested(tmp_path: Path, job: str) -> None:
    for _ in range(3 * MOST):
        run(tmp_path, job=job)
    assert not (tmp_path / ended.GIVEN_UP).exists()


@pytest.mark.process
def test_a_failed_start_is_a_bad_end_although_its_job_still_exists(tmp_path: Path) -> None:
    for _ in range(MOST):
        run(tmp_path, job="start", SERVICE_RESULT="exit-code", EXIT_STATUS="70")
    assert (tmp_path / ended.GIVEN_UP).exists()


@pytest.mark.process
@pytest.mark.parametrize(("lived_s", "given_up"), [(5.0, True), (600.0, False)])
def test_a_regular_end_is_bad_only_after_a_short_life(
    tmp_path: Path, lived_s: float, given_up: bool
) -> None:
    for _ in range(MOST):
        run(tmp_path, began_ago_s=lived_s, SERVICE_RESULT="success", EXIT_STATUS="0")
    assert (tmp_path / ended.GIVEN_UP).exists() == given_up


@pytest.mark.process
@pytest.mark.parametrize("harm", [b"", b"{}", b"[null]", b"7", b"\xff", b'["x"]'])
def test_unreadable_times_count_as_none(tmp_path: Path, harm: bytes) -> None:
    (tmp_path / ended.ENDS).write_bytes(harm)
    run(tmp_path)
    assert len(json.loads((tmp_path / ended.ENDS).read_text())) == 1


def test_times_of_another_boot_do_not_count() -> None:
    later_s = itertools.repeat(1e9, MOST)
    assert judge(tuple(later_s), BAD, 100.0) == ((100.0,), False)


@pytest.mark.process
def test_without_an_answer_of_systemctl_a_bad_end_counts(tmp_path: Path) -> None:
    for _ in range(MOST):
        places = {"INTERLUDE_RELEASE": str(tmp_path), "INTERLUDE_SYSTEMCTL": "/no/such"}
        subprocess.run([SCRIPT], env={**os.environ, **places, "SERVICE_RESULT": "watchdog"},
                       check=True, timeout=30)  # fmt: skip
    assert (tmp_path / ended.GIVEN_UP).read_text() == "watchdog 0\n"
