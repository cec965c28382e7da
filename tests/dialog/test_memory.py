"""The memory on disk: what it keeps, what it erases, and what it survives."""

from __future__ import annotations

import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from appliance.dialog.memory import Memory, open_or_replace
from appliance.dialog.memory_erase import LastTurn, forget_all, forget_turn
from appliance.errors import StorageError
from tests.dialog.turns import turn

ROOT = Path(__file__).parents[2]


# ── keeping and forgetting ───────────────────────────────────────────────────────────────────
def test_remembered_turns_are_recalled_oldest_first(file: Path) -> None:
    memory = Memory(file, 10)
    for number in range(3):
        memory.remember(turn(number, complete=number != 1))
    assert memory.recall(2) == [turn(1, complete=False), turn(2)]
    memory.close()
    assert Memory(file, 10).recall(12) == [turn(0), turn(1, complete=False), turn(2)]


def test_only_the_newest_turns_up_to_the_limit_are_kept(file: Path) -> None:
    memory = Memory(file, 3)
    for number in range(10):
        memory.remember(turn(number))
    assert [t.turn for t in memory.recall(100)] == [7, 8, 9]


def test_the_memory_is_readable_by_its_owner_only(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1))
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    for each in file.parent.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each


def test_a_memory_readable_by_others_gets_its_permissions_corrected(file: Path) -> None:
    Memory(file, 10).close()
    file.parent.chmod(0o755)
    file.chmod(0o644)
    Memory(file, 10).close()
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_word_of_a_forgotten_turn_is_left_in_any_file(file: Path) -> None:
    memory = Memory(file, 1000)
    for number in range(200):
        memory.remember(turn(number, f"a-secret-word number {number}"))
    assert any(b"a-secret-word" in each.read_bytes() for each in file.parent.iterdir())
    (file.parent / "memory.db.damaged-20260101T000000").write_bytes(b"a-secret-word")
    memory.close()
    forget_all(file)
    assert list(file.parent.iterdir()) == []
    memory = Memory(file, 1000)
    assert memory.recall(10) == []
    memory.remember(turn(1))
    assert memory.recall(10) == [turn(1)]


def test_only_the_newest_turn_is_forgotten_and_leaves_no_trace(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1, "a-first-word"))
    memory.remember(turn(2, "a-second-word"))
    memory.close()
    forget_turn(file, 10, LastTurn())
    memory = Memory(file, 10)
    assert memory.recall(10) == [turn(1, "a-first-word")]
    assert not any(b"a-second-word" in each.read_bytes() for each in file.parent.iterdir())
    memory.close()
    forget_turn(file, 10, LastTurn())
    forget_turn(file, 10, LastTurn())
    assert Memory(file, 10).recall(10) == []


def test_forgetting_the_last_turn_of_an_unreadable_memory_deletes_the_whole_memory(
    file: Path,
) -> None:
    file.parent.mkdir()
    file.write_bytes(b"a-secret-word " * 1000)
    file.with_name("memory.db.damaged-20260101T000000").write_bytes(b"a-secret-word")
    forget_turn(file, 10, LastTurn())
    assert list(file.parent.iterdir()) == []


@pytest.mark.process
def test_a_concurrent_reader_does_not_prevent_forgetting(file: Path) -> None:
    """As `interlude memory show` at the same time."""
    memory = Memory(file, 10)
    for number in range(3):
        memory.remember(turn(number, f"a-secret-word {number}"))
    memory.close()
    reader = sqlite3.connect(file)
    reader.execute("BEGIN")
    assert len(reader.execute("SELECT * FROM turns").fetchall()) == 3
    forget_turn(file, 10, LastTurn())
    forget_all(file)
    reader.close()
    assert not any(b"a-secret-word" in each.read_bytes() for each in file.parent.iterdir())


def test_a_turn_beyond_the_limit_leaves_no_word_in_any_file(file: Path) -> None:
    memory = Memory(file, 1)
    memory.remember(turn(1, "a-secret-word"))
    memory.remember(turn(2))
    memory.close()
    assert b"a-secret-word" not in file.read_bytes()


# ── crashes and damage ───────────────────────────────────────────────────────────────────────
WRITER = """
import sys
from pathlib import Path
from appliance.dialog.memory import Memory, RememberedTurn
memory = Memory(Path(sys.argv[1]), 1_000_000)
number = memory.count()
while True:
    memory.remember(RememberedTurn("now", number, "", 1.0, "x" * (number % 900), True, "pocket"))
    number += 1
    if number % 7 == 0:
        print(number, flush=True)
"""


@pytest.mark.process
def test_a_kill_at_any_moment_leaves_a_prefix_of_the_turns(file: Path) -> None:
    chance = random.Random(5)
    written = 0
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, cwd=ROOT
        )
        assert child.stdout is not None
        output = child.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.06))
        child.send_signal(signal.SIGKILL)
        output += child.stdout.read()
        child.wait()
        child.stdout.close()
        confirmed = int(output.split(b"\n")[-2] or 0)
        memory, aside = open_or_replace(file, 1_000_000)
        turns = memory.recall(1_000_000)
        memory.close()
        assert aside is None
        assert [t.turn for t in turns] == list(range(len(turns)))
        assert len(turns) >= confirmed
        assert len(turns) > written
        written = len(turns)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "no database": lambda data: b"this is not a database, but long enough to be one" * 100,
    "a page overwritten": lambda data: data[:4096] + b"\xff" * 4096 + data[8192:],
    "cut short": lambda data: data[: len(data) // 2],
    "header overwritten": lambda data: b"\0" * 100 + data[100:],
    "all ones": lambda data: b"\xff" * len(data),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_memory_is_set_aside_and_a_new_one_is_created(file: Path, kind: str) -> None:
    memory = Memory(file, 1000)
    for number in range(100):
        memory.remember(turn(number, "x" * 200))
    memory.close()
    file.write_bytes(DAMAGE[kind](file.read_bytes()))
    memory, aside = open_or_replace(file, 1000, lambda: datetime(2026, 5, 4, 3, 2, 1))
    assert aside == file.with_name("memory.db.damaged-20260504T030201")
    assert list(file.parent.glob(f"{file.name}.damaged-*")) == [aside]
    assert memory.recall(10) == []
    memory.remember(turn(1))
    assert memory.recall(10) == [turn(1)]


def test_a_foreign_database_is_set_aside(file: Path) -> None:
    file.parent.mkdir()
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE recipes (bread TEXT)")
    other.close()
    _, aside = open_or_replace(file, 10)
    assert aside is not None


def test_an_empty_file_is_a_new_memory(file: Path) -> None:
    file.parent.mkdir()
    file.touch()
    memory, aside = open_or_replace(file, 10)
    assert (memory.recall(1), aside) == ([], None)


def test_a_memory_of_a_newer_version_is_left_alone(file: Path) -> None:
    Memory(file, 10).close()
    newer = sqlite3.connect(file)
    newer.execute("PRAGMA user_version = 2")
    newer.close()
    before = file.read_bytes()
    with pytest.raises(StorageError, match=r"newer Interlude.*Update Interlude"):
        open_or_replace(file, 10)
    assert file.read_bytes() == before
    assert not list(file.parent.glob(f"{file.name}.damaged-*"))


def test_a_directory_without_write_permission_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match=r"cannot be used .*\. See that"):
        open_or_replace(Path("/proc/interlude/memory.db"), 10)
