"""Reading the memory database while the box writes it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from appliance.dialog.memory import Memory, RememberedTurn
from appliance.dialog.memory_erase import LastTurn, forget_all, forget_turn
from appliance.errors import StorageError
from appliance.runtime.memory_reader import read_turns
from tests.dialog.turns import turn


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "memory.db"


def fill(file: Path, count: int) -> Memory:
    memory = Memory(file, 100)
    for number in range(count):
        memory.remember(turn(number, f"answer {number}"))
    return memory


def test_turns_are_read_newest_first_with_their_total(file: Path) -> None:
    memory = fill(file, 7)
    turns, count = read_turns(file, 3)
    assert ([row.turn for row in turns], count) == ([6, 5, 4], 7)
    assert [row.turn for row in read_turns(file, 3, 6)[0]] == [0]
    assert read_turns(file, 3, 99) == ([], 7)
    memory.close()
    assert read_turns(file, 1)[0][0].heard == "answer 6", "readable while no process has it open"


def test_every_field_is_read_as_it_was_written(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(RememberedTurn("2026-01-01T10:00", 4, "typed", 2.5, "said", False, "m", "so"))
    (row,), _ = read_turns(file, 5)
    fields = (
        row.started,
        row.turn,
        row.asked,
        row.seconds,
        row.heard,
        row.complete,
        row.transcript,
    )
    assert fields == ("2026-01-01T10:00", 4, "typed", 2.5, "said", False, "so")


def test_a_file_without_the_transcript_column_is_read(file: Path) -> None:
    fill(file, 1).close()
    with sqlite3.connect(file) as db:
        db.execute("ALTER TABLE turns DROP COLUMN transcript")
    db.close()
    assert read_turns(file, 1)[0][0].transcript == ""


def test_a_missing_file_has_no_turns_and_is_not_created(file: Path) -> None:
    assert read_turns(file, 5) == ([], 0)
    assert not file.exists()


@pytest.mark.parametrize("data", [b"a-secret-word " * 1000, b"", b"SQLite format 3\0" + bytes(99)])
def test_an_invalid_file_raises_a_storage_error(file: Path, data: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(data)
    with pytest.raises(StorageError, match="cannot be read now"):
        read_turns(file, 5)


def test_reading_does_not_prevent_forgetting(file: Path) -> None:
    memory = fill(file, 3)
    read_turns(file, 5)
    memory.close()
    forget_turn(file, 100, LastTurn())
    assert read_turns(file, 5)[1] == 2
    forget_all(file)
    assert read_turns(file, 5) == ([], 0)
    assert list(file.parent.iterdir()) == []
