"""TimerStore: timers are saved atomically and loaded after a restart."""

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


def save_all(file: Path, *states: tuple[Timer, ...], boot: str = "a") -> list[str]:
    """Save these states, one after the other. Returns the complaints."""
    store = TimerStore(file, boot)
    for state in states:
        store.save(state)
    store.close()
    return [store.complaints.get() for _ in range(store.complaints.qsize())]


def load(file: Path, boot: str = "a") -> tuple[tuple[Timer, ...], bool, list[str]]:
    store = TimerStore(file, boot)
    timers, same_boot = store.load()
    store.close()
    return timers, same_boot, [store.complaints.get() for _ in range(store.complaints.qsize())]


def test_the_last_saved_state_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "timers" / "timers.json"
    assert save_all(file, (EGGS,), (EGGS, PILLS), (PILLS,)) == []
    assert load(file) == ((PILLS,), True, [])


def test_without_a_file_no_timers_are_loaded_and_nothing_is_reported(tmp_path: Path) -> None:
    assert load(tmp_path / "timers.json") == ((), True, [])


def test_a_reboot_of_the_machine_is_detected(tmp_path: Path) -> None:
    save_all(tmp_path / "t.json", (EGGS,), boot="a")
    assert load(tmp_path / "t.json", boot="b") == ((EGGS,), False, [])
    assert load(tmp_path / "t.json", boot="")[1] is False


def test_the_file_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "timers" / "timers.json"
    save_all(file, (EGGS,))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [path.name for path in file.parent.iterdir()] == ["timers.json"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version":1}', b"\xff\xfe", b"[" * 60_000])
def test_a_damaged_file_is_set_aside_and_reported_once(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "timers.json"
    file.write_bytes(data)
    timers, _, complaints = load(file)
    assert timers == ()
    assert len(complaints) == 1
    assert file.with_suffix(".damaged").read_bytes() == data
    assert save_all(file, (EGGS,)) == []
    assert load(file)[0] == (EGGS,)


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_any_file_content_loads_without_an_error(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "timers.json"
    file.write_bytes(data)
    load(file)


def test_a_huge_file_is_not_loaded(tmp_path: Path) -> None:
    file = tmp_path / "timers.json"
    file.write_bytes(b" " * (2 * MOST_BYTES))
    assert load(file)[0] == ()


def test_a_failing_disk_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "timers").write_text("no folder")
    store = TimerStore(tmp_path / "timers" / "timers.json", "a")
    for _ in range(3):
        store.save((EGGS,))
        end_s = time.monotonic() + 10.0
        while not store.complaints.qsize() and time.monotonic() < end_s:
            time.sleep(0.001)
    store.close()
    assert store.complaints.qsize() == 1
