"""The thread that writes the memory: what it tells, and what it does on a card that fails."""

from __future__ import annotations

import select
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.dialog.memory import Memory
from appliance.dialog.memory_writer import (
    MOST_FORGETS,
    MOST_WAITING,
    OWED,
    ForgetResult,
    MemoryHealth,
    MemoryNews,
    MemoryWriter,
    TurnsRecalled,
)
from appliance.runtime.memory_files import APART
from tests import skips
from tests.dialog.turns import turn


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A directory on a file system of 1 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip(skips.MOUNTS)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def read_only_disk(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A read-only file system with a turn in its memory, and how to make it writable again."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip(skips.MOUNTS)
    memory = Memory(place / "memory.db", 10)
    memory.remember(turn(1, "a-secret-word"))
    memory.close()
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)

    def writable() -> None:
        subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True)

    yield place, writable
    subprocess.run(["umount", str(place)], check=True)


def test_without_a_memory_a_recall_is_answered_at_once_and_empty(file: Path) -> None:
    for keep, count in ((0, 5), (10, 0)):
        scribe = MemoryWriter(file, keep)
        scribe.recall(count)
        assert news(scribe) == [TurnsRecalled(())]
        number = scribe.forget()
        assert ForgetResult(number) in news(scribe)
        scribe.recall(count)
        assert news(scribe) == [TurnsRecalled((), number)]
        scribe.close()


def test_an_erasure_interrupted_by_a_power_cut_is_finished_at_the_next_start(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1, "a-secret-word"))
    memory.close()
    file.rename(file.with_name(f"{file.name}.0{APART}"))  # as far as it came
    scribe = MemoryWriter(file, 10)
    scribe.recall(5)
    assert news(scribe) == [TurnsRecalled(())]
    assert not any(b"a-secret-word" in each.read_bytes() for each in file.parent.iterdir())
    scribe.close()


# ── the scribe ───────────────────────────────────────────────────────────────────────────────
def news(scribe: MemoryWriter, count: int = 1) -> list[MemoryNews]:
    """What it tells, waited for."""
    found: list[MemoryNews] = []
    end_s = time.monotonic() + 20
    while len(found) < count and time.monotonic() < end_s:
        found += scribe.pop_news()
        time.sleep(0.005)
    return found


def test_the_writer_recalls_what_was_queued_before(file: Path) -> None:
    scribe = MemoryWriter(file, 10)
    scribe.remember(turn(1))
    scribe.recall(5)
    assert news(scribe) == [TurnsRecalled((turn(1),))]
    number = scribe.forget()
    scribe.recall(5)
    assert news(scribe, 2) == [ForgetResult(number), TurnsRecalled(())]
    scribe.close()


def test_an_order_to_forget_is_confirmed_after_the_erasure(file: Path) -> None:
    scribe = MemoryWriter(file, 10)
    for number in range(3):
        scribe.remember(turn(number, f"a-secret-word {number}"))
    last = scribe.forget(last=True)
    assert news(scribe) == [ForgetResult(last)]
    assert not any(b"a-secret-word 2" in each.read_bytes() for each in file.parent.iterdir())
    everything = scribe.forget()
    assert news(scribe) == [ForgetResult(everything)]
    assert list(file.parent.iterdir()) == []
    scribe.close()


def test_turns_recalled_before_an_order_to_forget_are_not_delivered_after_it(file: Path) -> None:
    scribe = MemoryWriter(file, 10)
    scribe.remember(turn(1))
    scribe.recall(5)
    poll = select.poll()
    poll.register(scribe.fileno(), select.POLLIN)
    assert poll.poll(20_000), "they lie ready"
    number = scribe.forget(last=True)
    assert news(scribe) == [ForgetResult(number)]
    scribe.close()


@pytest.mark.process
def test_after_a_failed_erasure_nothing_is_recalled_and_the_erasure_is_retried(
    read_only_disk: tuple[Path, Callable[[], None]], tmp_path: Path
) -> None:
    place, writable = read_only_disk
    scribe = MemoryWriter(place / "memory.db", 10, tmp_path)
    number = scribe.forget()
    unwell, failed = news(scribe, 2)
    assert isinstance(unwell, MemoryHealth)
    assert isinstance(failed, ForgetResult)
    assert (failed.number, failed.late) == (number, False)
    assert "Read-only" in failed.problem
    scribe.recall(5)
    assert news(scribe) == [TurnsRecalled(())], "withheld"
    again = scribe.forget(last=True)
    (refused,) = news(scribe)
    assert isinstance(refused, ForgetResult)
    assert (refused.number, bool(refused.problem)) == (again, True)
    scribe.close()
    scribe = MemoryWriter(place / "memory.db", 10, tmp_path)  # a conductor that was started again
    scribe.recall(5)
    assert news(scribe) == [TurnsRecalled(())]
    writable()
    scribe.recall(5)
    late, recalled = news(scribe, 2)
    assert isinstance(late, ForgetResult)
    assert (late.problem, late.late) == ("", True)
    assert recalled == TurnsRecalled(())
    assert not (tmp_path / OWED).exists()
    scribe.close()


@pytest.mark.process
def test_a_full_queue_accepts_an_order_to_forget(file: Path) -> None:
    Memory(file, 1000).close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")  # the first turn waits for this, the others for the first
    scribe = MemoryWriter(file, 1000)
    for number in range(MOST_WAITING + 10):
        scribe.remember(turn(number, "a-secret-word"))
    numbers = [scribe.forget() for _ in range(MOST_FORGETS + 10)]
    answered: dict[int, str] = {}
    while len(answered) < len(numbers) and (told := news(scribe)):
        answered |= {item.number: item.problem for item in told if isinstance(item, ForgetResult)}
    other.close()
    assert sorted(answered) == numbers, "each has its answer"
    refused = [number for number, problem in answered.items() if problem]
    assert 1 <= len(refused) <= 10, "beyond those that may wait, of which some may have begun"
    assert all("hangs" in answered[number] for number in refused)
    scribe.close()
    assert list(file.parent.iterdir()) == [], "and no turn was written that was to be forgotten"


def test_the_writer_writes_everything_before_it_closes(file: Path) -> None:
    scribe = MemoryWriter(file, 1000)
    for number in range(100):
        scribe.remember(turn(number))
    scribe.close()
    assert Memory(file, 1000).count() == 100


def test_the_writer_reports_once_that_a_damaged_memory_was_set_aside(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    scribe = MemoryWriter(file, 10)
    scribe.remember(turn(1))
    scribe.recall(1)
    told, recalled = news(scribe, 2)
    assert isinstance(told, MemoryHealth)
    assert told.set_aside
    assert recalled == TurnsRecalled((turn(1),))
    scribe.close()


def test_a_disk_failure_and_its_end_are_reported_once_each(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    place.write_text("a file where the directory should be")
    scribe = MemoryWriter(place / "memory.db", 10)
    for number in range(3):
        scribe.remember(turn(number))
    told = news(scribe)
    assert [(t.well, type(t)) for t in told if isinstance(t, MemoryHealth)] == [
        (False, MemoryHealth)
    ]
    place.unlink()
    scribe.remember(turn(7))
    scribe.recall(9)
    back, recalled = news(scribe, 2)
    assert isinstance(back, MemoryHealth)
    assert back.well
    assert isinstance(recalled, TurnsRecalled)
    assert recalled.turns[-1] == turn(7)  # before it may be those that still waited
    scribe.close()


@pytest.mark.process
def test_a_full_disk_is_reported_once_and_the_writer_continues(small_disk: Path) -> None:
    scribe = MemoryWriter(small_disk / "memory.db", 1_000_000)
    for number in range(60):
        scribe.remember(turn(number, "x" * 60_000))
    told = news(scribe)
    scribe.close()
    assert [(t.well, "full" in t.text) for t in told if isinstance(t, MemoryHealth)] == [
        (False, True)
    ]


def test_a_memory_of_no_turns_touches_no_disk(file: Path) -> None:
    scribe = MemoryWriter(file, 0)
    scribe.remember(turn(1))
    scribe.recall(1)
    scribe.close()
    assert not file.parent.exists()


def test_one_turn_is_forgotten_and_the_others_are_recalled(file: Path) -> None:
    scribe = MemoryWriter(file, 10)
    for number in range(3):
        scribe.remember(turn(number, f"a-secret-word {number}"))
    chosen = scribe.forget(chosen=(turn(1).started, 1))
    scribe.recall(5)
    first, second = turn(0, "a-secret-word 0"), turn(2, "a-secret-word 2")
    assert news(scribe, 2) == [ForgetResult(chosen), TurnsRecalled((first, second))]
    assert not any(b"a-secret-word 1" in each.read_bytes() for each in file.parent.iterdir())
    scribe.close()


@pytest.mark.parametrize(
    ("noted", "left"),
    [("0\n2026-01-01T10:00:00+00:00 1", [0, 2]), ("1\n2026-01-01T10:00:00+00:00 0", [1]),
     ("2", [0]), ("all", []), ("1\nx", []), ("1\n2026 y", []), ("-1", []), ("", [])],
)  # fmt: skip
def test_a_noted_erasure_is_done_by_the_next_writer(
    file: Path, tmp_path: Path, noted: str, left: list[int]
) -> None:
    memory = Memory(file, 10)
    for number in range(3):
        memory.remember(turn(number))
    memory.close()
    (tmp_path / OWED).write_text(noted)
    scribe = MemoryWriter(file, 10, tmp_path)
    scribe.recall(5)
    assert news(scribe, 2)[1] == TurnsRecalled(tuple(turn(number) for number in left))
    scribe.close()


@pytest.mark.process
def test_a_chosen_turn_that_could_not_be_forgotten_is_noted_and_forgotten_later(
    read_only_disk: tuple[Path, Callable[[], None]], tmp_path: Path
) -> None:
    place, writable = read_only_disk
    scribe = MemoryWriter(place / "memory.db", 10, tmp_path)
    scribe.forget(chosen=(turn(1).started, 1))
    news(scribe, 2)
    scribe.close()
    assert (tmp_path / OWED).read_text() == f"0\n{turn(1).started} 1"
    writable()
    scribe = MemoryWriter(place / "memory.db", 10, tmp_path)
    scribe.recall(5)
    late, recalled = news(scribe, 2)
    assert isinstance(late, ForgetResult)
    assert (late.problem, late.late, recalled) == ("", True, TurnsRecalled(()))
    scribe.close()
