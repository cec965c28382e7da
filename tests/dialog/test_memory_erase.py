"""Forgetting on a card: afterwards a canary word is nowhere in the card's raw bytes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.background_file import write_private
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.dialog.memory_erase import (
    ChosenTurn,
    LastTurn,
    forget_all,
    forget_turn,
)
from appliance.errors import StorageError
from appliance.runtime import memory_files
from appliance.runtime.folder_lock import locked
from tests.card import Card, card

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
CANARY = b"canaryword"
KEPT = b"otherword"


@pytest.fixture
def sd(tmp_path: Path) -> Iterator[Card]:
    with card(tmp_path) as made:
        yield made


def turn(number: int, word: bytes) -> RememberedTurn:
    words = f"{word.decode()} {number:04d} " * (1 + number % 9)
    return RememberedTurn(
        "2026-01-01T10:00:00+00:00", number, words, 1.5, words * 3, True, "pocket"
    )


def talk(file: Path, count: int, word: bytes, keep: int = 50) -> None:
    """One session of the box with an orderly end; each transcript comes a turn late."""
    memory = Memory(file, keep)
    for number in range(count):
        memory.remember(turn(number, word))
        for said in (turn(number - 1, word), turn(number, word)):
            memory.transcribe(said.started, said.turn, said.asked * 2)
    memory.close()


def killed(file: Path) -> None:
    """A session that ended by SIGKILL, with its write-ahead log still there."""
    code = (
        "import os, signal, sys; from pathlib import Path;"
        "from tests.dialog.test_memory_erase import CANARY, Memory, turn;"
        "m = Memory(Path(sys.argv[1]), 50); [m.remember(turn(n, CANARY)) for n in range(80)];"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(file)], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL


def test_after_forgetting_everything_no_word_is_in_the_raw_bytes_of_the_card(sd: Card) -> None:
    file = sd.at / "memory" / "memory.db"
    for _ in range(3):  # the end of each session frees the blocks of its log
        talk(file, 120, CANARY)
    killed(file)
    assert sd.count(CANARY) > 1000
    forget_all(file)
    assert sd.count(CANARY) == 0


def test_only_the_last_turn_is_erased_from_the_raw_bytes_of_the_card(sd: Card) -> None:
    file = sd.at / "memory" / "memory.db"
    for _ in range(2):
        talk(file, 120, KEPT)
    talk(file, 1, CANARY)
    assert sd.count(CANARY) > 0
    forget_turn(file, 50, LastTurn())
    assert sd.count(CANARY) == 0
    assert [KEPT.decode() in each.heard for each in Memory(file, 50).recall(-1)] == [True] * 49


@pytest.mark.parametrize("last", [True, False])
def test_forgetting_works_on_a_card_without_a_free_block(sd: Card, last: bool) -> None:
    file = sd.at / "memory" / "memory.db"
    talk(file, 100, KEPT if last else CANARY)
    talk(file, 1, CANARY)
    filler = sd.fill()
    if last:
        forget_turn(file, 50, LastTurn())
    else:
        forget_all(file)
    assert sd.count(CANARY) == 0
    filler.unlink()
    assert Memory(file, 50).count() == (49 if last else 0)


@pytest.mark.parametrize("forget", [forget_all, lambda file: forget_turn(file, 50, LastTurn())])
def test_forgetting_on_a_read_only_card_is_an_error_and_is_done_later(
    sd: Card, forget: Callable[[Path], None]
) -> None:
    file = sd.at / "memory" / "memory.db"
    talk(file, 1, CANARY)
    sd.mounted("ro")
    with pytest.raises(StorageError, match=r"Read-only|readonly"):
        forget(file)
    assert sd.count(CANARY) > 0
    sd.mounted("rw")
    forget(file)
    assert sd.count(CANARY) == 0


@pytest.mark.parametrize("last", [True, False])
def test_no_word_of_the_models_cache_is_in_the_raw_bytes_of_the_card(sd: Card, last: bool) -> None:
    file = sd.at / "memory" / "memory.db"
    talk(file, 5, KEPT)
    for name in ("states/memory.db.state-1", "states/memory.db.state-2.tried"):
        write_private(file.parent / name, CANARY * 100_000)
    filler = sd.fill()
    if last:
        forget_turn(file, 50, LastTurn())
    else:
        forget_all(file)
    assert sd.count(CANARY) == 0
    filler.unlink()
    assert Memory(file, 50).count() == (4 if last else 0)


def test_forgetting_waits_for_a_writer_of_the_cache_with_a_timeout(tmp_path: Path) -> None:
    file = tmp_path / "memory" / "memory.db"
    talk(file, 5, CANARY)
    memory_files.snapshots(file).mkdir()
    with locked(memory_files.snapshots(file), 1.0):
        with pytest.raises(StorageError, match="in use by another program"):
            forget_all(file, within_s=0.1)
        with pytest.raises(StorageError, match="in use by another program"):
            forget_turn(file, 50, LastTurn(), within_s=0.1)
    assert CANARY in file.read_bytes()
    forget_all(file)
    assert not file.exists()


def test_a_retry_of_forgetting_the_last_turn_deletes_no_other_turn(tmp_path: Path) -> None:
    """The first attempt deleted the turn and failed at a later step."""
    file, last = tmp_path / "memory.db", LastTurn()
    talk(file, 5, KEPT)
    for _ in range(2):
        forget_turn(file, 50, last)
    assert Memory(file, 50).count() == 4
    forget_turn(file, 50, LastTurn())
    assert Memory(file, 50).count() == 3


def test_only_a_chosen_turn_is_erased_from_the_raw_bytes_of_the_card(sd: Card) -> None:
    file = sd.at / "memory" / "memory.db"
    talk(file, 20, KEPT)
    talk(file, 1, CANARY)
    chosen = Memory(file, 50)
    chosen.remember(turn(7, KEPT))
    chosen.close()
    assert sd.count(CANARY) > 0
    said = turn(0, CANARY)
    memory = Memory(file, 50)
    there = [each for each in memory.recall(-1) if CANARY.decode() in each.heard]
    memory.close()
    assert [(each.started, each.turn) for each in there] == [(said.started, 0)]
    with_same_key = 2  # an earlier turn has the same number and second and is erased, too
    forget_turn(file, 50, ChosenTurn(said.started, 0))
    assert sd.count(CANARY) == 0
    assert Memory(file, 50).count() == 22 - with_same_key


def test_forgetting_an_unknown_turn_deletes_no_other_turn(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    talk(file, 5, KEPT)
    for _ in range(2):
        forget_turn(file, 50, ChosenTurn("2026-01-01T10:00:00+00:00", 3))
        assert [each.turn for each in Memory(file, 50).recall(-1)] == [0, 1, 2, 4]
    forget_turn(file, 50, ChosenTurn("1999-01-01T10:00:00+00:00", 1))
    assert Memory(file, 50).count() == 4
