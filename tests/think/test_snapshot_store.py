"""The saved state of the conversation: atomic, and erased before the box says "forgotten"."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.dialog.memory import Memory, RememberedTurn
from appliance.dialog.memory_erase import LastTurn, forget_all, forget_turn
from appliance.runtime import memory_files
from appliance.runtime.folder_lock import locked
from appliance.think import state_file
from appliance.think.snapshot_store import STEP_BYTES, Snapshots
from appliance.think.state_file import MOST_BYTES

MODEL = b"this model"
IDS = np.array([2, -7, 2**40, 105], np.int64)
STATE = bytes(range(256)) * 40
WORDS = "Somebody said this and nothing else."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A memory with two turns."""
    path = tmp_path / "memory" / "memory.db"
    memory = Memory(path, 50)
    for number in range(2):
        memory.remember(
            RememberedTurn("2026-01-01T10:00:00+00:00", number, WORDS, 0.0, WORDS, True, "x")
        )
    memory.close()
    return path


def with_file(file: Path) -> Snapshots:
    """Snapshots with a file that may be written."""
    snapshots = Snapshots(file, MODEL)
    create_file(snapshots)
    return snapshots


def create_file(snapshots: Snapshots) -> None:
    assert not snapshots.ensure_file()
    assert snapshots.wait(10)
    assert snapshots.ensure_file()


def saved(file: Path, state: bytes = STATE) -> Path:
    snapshots = with_file(file)
    snapshots.save(IDS, state)
    assert snapshots.wait(10)
    (path,) = states(file)
    return path


def states(file: Path) -> list[Path]:
    return sorted(memory_files.snapshots(file).glob("*.state-*"))


def test_a_saved_state_is_loaded_again_and_private(file: Path) -> None:
    path = saved(file)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for _ in range(2):
        snapshots = Snapshots(file, MODEL)
        found = snapshots.load()
        assert found is not None
        assert (found[0].tolist(), found[1]) == (IDS.tolist(), STATE)
        snapshots.mark_usable()
        assert snapshots.wait(10)
    assert states(file) == [path]


def test_a_new_state_replaces_the_old_one(file: Path) -> None:
    old = saved(file)
    new = saved(file, STATE[::-1])
    assert new != old
    found = Snapshots(file, MODEL).load()
    assert found is not None
    assert found[1] == STATE[::-1]


def test_a_state_of_another_origin_is_not_loaded_and_erased(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    saved(file)
    snapshots = Snapshots(file, b"another one")
    assert snapshots.load() is None
    assert snapshots.wait(10)
    assert states(file) == []
    assert len(caplog.records) == 1


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


def endless(path: Path) -> None:
    os.truncate(path, 2 * MOST_BYTES)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_link(path: Path) -> None:
    target = path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(target)


def tried(path: Path) -> None:
    """As after a crash of the process that loaded it."""
    path.rename(path.with_name(path.name + ".tried"))


@pytest.mark.parametrize(
    "harm", [cut, one_bit, endless, a_pipe, a_link, tried], ids=lambda harm: harm.__name__
)
def test_a_damaged_state_is_reported_once_and_erased(
    file: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    harm(saved(file))
    caplog.clear()
    snapshots = Snapshots(file, MODEL)
    assert snapshots.load() is None
    assert snapshots.wait(10)
    assert states(file) == []
    (message,) = caplog.messages
    assert message.startswith("the saved state of the conversation ")


def test_an_empty_file_is_removed_without_a_log_line(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with_file(file)
    snapshots = Snapshots(file, MODEL)
    assert snapshots.load() is None
    assert snapshots.wait(10)
    assert states(file) == []
    assert caplog.records == []


def test_a_state_that_crashed_the_process_is_not_loaded_again(file: Path) -> None:
    saved(file)
    assert Snapshots(file, MODEL).load() is not None  # the process ends here
    assert Snapshots(file, MODEL).load() is None


def test_without_a_memory_no_file_is_created(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path / "memory" / "memory.db", MODEL)
    assert snapshots.load() is None
    for _ in range(2):
        assert not snapshots.ensure_file()
        assert snapshots.wait(10)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("size", "is_kept"), [(MOST_BYTES, False), (STEP_BYTES, True)])
def test_a_state_that_is_too_large_is_not_saved(file: Path, size: int, is_kept: bool) -> None:
    old = saved(file)
    snapshots = with_file(file)
    snapshots.save(IDS, bytes(size))
    assert snapshots.wait(30)
    assert old not in states(file)
    assert len(states(file)) == is_kept


def test_without_enough_disk_space_no_state_is_saved(file: Path) -> None:
    saved(file)
    disk = os.statvfs(file)
    snapshots = Snapshots(file, MODEL, room_bytes=disk.f_bavail * disk.f_frsize + (1 << 40))
    create_file(snapshots)
    snapshots.save(IDS, STATE)
    assert snapshots.wait(10)
    assert states(file) == []


def test_after_an_incomplete_write_the_old_state_is_loaded(file: Path) -> None:
    saved(file)
    half = memory_files.snapshots(file) / "memory.db.state-99999999999999999999"  # the newest
    half.write_bytes(state_file.seal(b"interlude recalls 1\n", MODEL, STATE)[:-1])
    snapshots = Snapshots(file, MODEL)
    found = snapshots.load()
    assert found is not None
    assert found[1] == STATE
    assert snapshots.wait(10)
    assert not half.exists()


# ── forgetting ───────────────────────────────────────────────────────────────────────────────────
def all_of_it(file: Path) -> None:
    forget_all(file)


def the_last(file: Path) -> None:
    forget_turn(file, 50, LastTurn())


forgetting = pytest.mark.parametrize("forget", [all_of_it, the_last])


@forgetting
def test_forgetting_erases_the_state_before_it_returns(
    file: Path, forget: Callable[[Path], None]
) -> None:
    path = saved(file)
    with path.open("rb") as still_open:
        forget(file)
        assert set(still_open.read()) == {0}  # overwritten in place, then unlinked
    assert states(file) == []


@forgetting
def test_turns_recalled_before_a_forget_are_not_saved_after_it(
    file: Path, forget: Callable[[Path], None]
) -> None:
    snapshots = with_file(file)
    (path,) = states(file)
    with path.open("rb") as still_open:
        forget(file)  # the thinker is not notified
        snapshots.save(IDS, STATE)
        assert snapshots.wait(10)
        assert still_open.read() == b""  # nor is it in the unlinked file
    assert states(file) == []
    create_file(snapshots)  # a new file; turns recalled from now on may be saved


def test_forgetting_waits_for_a_running_write_and_erases_it(file: Path) -> None:
    snapshots = with_file(file)
    (path,) = states(file)
    with path.open("rb") as still_open:
        snapshots.save(IDS, b"x" * (5 * STEP_BYTES))
        deadline = time.monotonic() + 10
        while not path.stat().st_size:  # until the write has started
            assert time.monotonic() < deadline
        forget_all(file)
        assert states(file) == []
        assert snapshots.wait(10)
        assert set(still_open.read()) == {0}
    assert states(file) == []


def test_drop_cancels_a_running_write(file: Path) -> None:
    snapshots = with_file(file)
    with locked(memory_files.snapshots(file), 1.0):
        snapshots.save(IDS, bytes(5 * STEP_BYTES))
        snapshots.drop()
    assert snapshots.wait(10)
    assert states(file) == []


def test_nothing_is_loaded_while_turns_are_being_forgotten(file: Path) -> None:
    saved(file)
    taken: list[object] = []
    with locked(memory_files.snapshots(file), 1.0):
        thread = threading.Thread(target=lambda: taken.append(Snapshots(file, MODEL).load()))
        thread.start()
        assert not taken
        for path in states(file):
            path.unlink()
    thread.join(10)
    assert taken == [None]
