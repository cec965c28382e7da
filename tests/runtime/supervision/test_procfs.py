"""Reading scheduler times from /proc, including missing and malformed files."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from appliance.runtime.supervision import procfs
from tests import skips


def files(folder: Path, *, stat: str = "7 (a) b) c) D 1 2", ran: str = "2500000000 300 4") -> Path:
    process = folder / "7"
    for task, waited in (("7", 1_500_000_000), ("9", 250_000_000)):
        (process / "task" / task).mkdir(parents=True)
        (process / "task" / task / "schedstat").write_text(f"10 {waited} 3\n")
    (process / "stat").write_text(stat)
    (process / "schedstat").write_text(ran)
    return folder


def test_a_reading_is_in_seconds_and_a_process_name_may_have_brackets(tmp_path: Path) -> None:
    assert procfs.read_times(7, files(tmp_path)) == procfs.SchedulerReading(
        "D", 2.5, {7: 1.5, 9: 0.25}
    )


@pytest.mark.parametrize(("stat", "ran"), [("", "1 2 3"), ("7 (a) S 1", ""), ("7 (a) S", "x y z")])
def test_unreadable_files_give_no_reading(tmp_path: Path, stat: str, ran: str) -> None:
    assert procfs.read_times(7, files(tmp_path, stat=stat, ran=ran)) is None
    assert procfs.read_times(8, tmp_path) is None


def test_a_thread_that_has_ended_is_left_out(tmp_path: Path) -> None:
    (files(tmp_path) / "7/task/9/schedstat").unlink()
    reading = procfs.read_times(7, tmp_path)
    assert reading is not None
    assert reading.waited_s == {7: 1.5}


def test_the_real_proc_has_the_times_of_this_process() -> None:
    before = procfs.read_times(os.getpid())
    if before is None:
        pytest.skip(skips.WAITS)
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    after = procfs.read_times(os.getpid())
    assert after is not None
    if threading.current_thread() is threading.main_thread():
        assert after.ran_s - before.ran_s > 0.04
    assert after.state in "RS"
    assert os.getpid() in after.waited_s
