"""Timers on disk: whole or not at all."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.tools.timer_store import MOST_BYTES, TimerStore
from appliance.tools.timers import Timer

EGGS = Timer(1, "eggs", 300.0, 1300.0, 1_800_000_300.0, 1000.0)
PILLS = Timer(2, "pills", due_wall_s=1_800_009_000.0)


def kept(file: Path, *states: tuple[Timer, ...], boot: str = "a") -> list[str]:
    """Keep these states, one after the other. Returns the complaints."""
    store = TimerStore(file, boot)
    for state in states:
        store.save(state)
    store.close()
    return [store.complaints.get() for _ in range(store.complaints.qsize())]


def loaded(file: Path, boot: str = "a") -> tuple[tuple[Timer, ...], bool, list[str]]:
    store = TimerStore(file, boot)
    timers, same_boot = store.load()
    store.close()
    return timers, same_boot, [store.complaints.get() for _ in range(store.complaints.qsize())]


def test_what_was_kept_last_is_there_again(tmp_path: Path) -> None:
    file = tmp_path / "timers" / "timers.json"
    assert kept(file, (EGGS,), (EGGS, PILLS), (PILLS,)) == []
    assert loaded(file) == ((PILLS,), True, [])


def test_the_first_start_has_nothing_and_complains_of_nothing(tmp_path: Path) -> None:
    assert loaded(tmp_path / "timers.json") == ((), True, [])


def test_another_start_of_the_machine_is_known(tmp_path: Path) -> None:
    kept(tmp_path / "t.json", (EGGS,), boot="a")
    assert loaded(tmp_path / "t.json", boot="b") == ((EGGS,), False, [])
    assert loaded(tmp_path / "t.json", boot="")[1] is False


def test_nobody_else_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "timers" / "timers.json"
    kept(file, (EGGS,))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["timers.json"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version":1}', b"\xff\xfe", b"[" * 60_000])
def test_a_damaged_file_is_set_aside_and_said_once(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "timers.json"
    file.write_bytes(data)
    timers, _, complaints = loaded(file)
    assert timers == ()
    assert len(complaints) == 1
    assert file.with_suffix(".damaged").read_bytes() == data
    assert kept(file, (EGGS,)) == []
    assert loaded(file)[0] == (EGGS,)


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_whatever_lies_there_is_no_trouble(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "timers.json"
    file.write_bytes(data)
    loaded(file)


def test_a_huge_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "timers.json"
    file.write_bytes(b" " * (2 * MOST_BYTES))
    assert loaded(file)[0] == ()


def test_a_disk_that_cannot_be_written_is_said_once_and_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "timers").write_text("no folder")
    store = TimerStore(tmp_path / "timers" / "timers.json", "a")
    for _ in range(3):
        store.save((EGGS,))
        end_s = time.monotonic() + 10.0
        while not store.complaints.qsize() and time.monotonic() < end_s:
            time.sleep(0.001)
    store.close()
    assert store.complaints.qsize() == 1
