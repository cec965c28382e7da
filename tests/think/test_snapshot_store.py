"""What is kept of the conversation on disk: whole or not at all, and gone before "forgotten"."""

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


def begun(file: Path) -> Snapshots:
    """With a file that may be filled."""
    it = Snapshots(file, MODEL)
    begin(it)
    return it


def begin(it: Snapshots) -> None:
    assert not it.ensure_file()
    assert it.wait(10)
    assert it.ensure_file()


def kept(file: Path, state: bytes = STATE) -> Path:
    it = begun(file)
    it.save(IDS, state)
    assert it.wait(10)
    (path,) = states(file)
    return path


def states(file: Path) -> list[Path]:
    return sorted(file.parent.glob("*.state-*"))


def test_what_is_kept_is_taken_again_and_is_its_owners_alone(file: Path) -> None:
    path = kept(file)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for _ in range(2):
        it = Snapshots(file, MODEL)
        found = it.load()
        assert found is not None
        assert (found[0].tolist(), found[1]) == (IDS.tolist(), STATE)
        it.mark_usable()
        assert it.wait(10)
    assert states(file) == [path]


def test_a_new_one_takes_the_place_of_the_old_one(file: Path) -> None:
    old = kept(file)
    new = kept(file, STATE[::-1])
    assert new != old
    found = Snapshots(file, MODEL).load()
    assert found is not None
    assert found[1] == STATE[::-1]


def test_of_another_model_build_or_context_nothing_is_taken_and_it_is_erased(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept(file)
    it = Snapshots(file, b"another one")
    assert it.load() is None
    assert it.wait(10)
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
    """It ended the process that took it."""
    path.rename(path.with_name(path.name + ".tried"))


@pytest.mark.parametrize(
    "harm", [cut, one_bit, endless, a_pipe, a_link, tried], ids=lambda harm: harm.__name__
)
def test_what_is_not_exactly_what_was_kept_is_said_once_and_erased(
    file: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    harm(kept(file))
    caplog.clear()
    it = Snapshots(file, MODEL)
    assert it.load() is None
    assert it.wait(10)
    assert states(file) == []
    (said,) = caplog.messages
    assert said.startswith("the saved state of the conversation ")


def test_a_file_that_was_never_filled_goes_without_a_word(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun(file)
    it = Snapshots(file, MODEL)
    assert it.load() is None
    assert it.wait(10)
    assert states(file) == []
    assert caplog.records == []


def test_a_state_that_ends_the_process_is_not_tried_a_second_time(file: Path) -> None:
    kept(file)
    assert Snapshots(file, MODEL).load() is not None  # and here the process ends
    assert Snapshots(file, MODEL).load() is None


def test_where_there_is_no_memory_nothing_is_made(tmp_path: Path) -> None:
    it = Snapshots(tmp_path / "memory" / "memory.db", MODEL)
    assert it.load() is None
    for _ in range(2):
        assert not it.ensure_file()
        assert it.wait(10)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("size", "is_kept"), [(MOST_BYTES, False), (STEP_BYTES, True)])
def test_where_it_is_too_long_none_is_kept(file: Path, size: int, is_kept: bool) -> None:
    old = kept(file)
    it = begun(file)
    it.save(IDS, bytes(size))
    assert it.wait(30)
    assert old not in states(file)
    assert len(states(file)) == is_kept


def test_where_the_disk_would_be_full_none_is_kept(file: Path) -> None:
    kept(file)
    disk = os.statvfs(file)
    it = Snapshots(file, MODEL, room_bytes=disk.f_bavail * disk.f_frsize + (1 << 40))
    begin(it)
    it.save(IDS, STATE)
    assert it.wait(10)
    assert states(file) == []


def test_one_whose_writing_was_cut_short_leaves_the_old_one(file: Path) -> None:
    kept(file)
    half = file.with_name("memory.db.state-99999999999999999999")  # newer than any
    half.write_bytes(state_file.seal(b"interlude recalls 1\n", MODEL, STATE)[:-1])
    it = Snapshots(file, MODEL)
    found = it.load()
    assert found is not None
    assert found[1] == STATE
    assert it.wait(10)
    assert not half.exists()


# ── forgetting ───────────────────────────────────────────────────────────────────────────────
def all_of_it(file: Path) -> None:
    forget_all(file)


def the_last(file: Path) -> None:
    forget_turn(file, 50, LastTurn())


forgetting = pytest.mark.parametrize("forget", [all_of_it, the_last])


@forgetting
def test_forgetting_erases_it_before_it_returns(file: Path, forget: Callable[[Path], None]) -> None:
    path = kept(file)
    with path.open("rb") as still_open:
        forget(file)
        assert set(still_open.read()) == {0}  # overwritten where it lay, and then unlinked
    assert states(file) == []


@forgetting
def test_what_was_taken_from_the_memory_before_is_not_kept_after_it_was_forgotten(
    file: Path, forget: Callable[[Path], None]
) -> None:
    it = begun(file)
    (path,) = states(file)
    with path.open("rb") as still_open:
        forget(file)  # and nobody has told the thinker
        it.save(IDS, STATE)
        assert it.wait(10)
        assert still_open.read() == b""  # nor is it on the card without a name
    assert states(file) == []
    begin(it)  # a new file is made, and what is taken from now on may be kept


def test_who_forgets_waits_for_who_writes_and_leaves_nothing(file: Path) -> None:
    it = begun(file)
    (path,) = states(file)
    with path.open("rb") as still_open:
        it.save(IDS, b"x" * (5 * STEP_BYTES))
        deadline = time.monotonic() + 10
        while not path.stat().st_size:  # it is being written
            assert time.monotonic() < deadline
        forget_all(file)
        assert states(file) == []
        assert it.wait(10)
        assert set(still_open.read()) == {0}
    assert states(file) == []


def test_dropping_ends_what_is_being_written(file: Path) -> None:
    it = begun(file)
    with locked(file.parent, 1.0):
        it.save(IDS, bytes(5 * STEP_BYTES))
        it.drop()
    assert it.wait(10)
    assert states(file) == []


def test_while_somebody_forgets_nothing_is_taken(file: Path) -> None:
    kept(file)
    taken: list[object] = []
    with locked(file.parent, 1.0):
        thread = threading.Thread(target=lambda: taken.append(Snapshots(file, MODEL).load()))
        thread.start()
        assert not taken
        for path in states(file):
            path.unlink()
    thread.join(10)
    assert taken == [None]
