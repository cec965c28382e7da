"""The thread that writes the memory: its reports, and its behaviour on a failing card."""

from __future__ import annotations

import select
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.background_file import write_private
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

    def make_writable() -> None:
        subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True)

    yield place, make_writable
    subprocess.run(["umount", str(place)], check=True)


def test_without_a_memory_a_recall_is_answered_at_once_and_empty(file: Path) -> None:
    for keep, count in ((0, 5), (10, 0)):
        writer = MemoryWriter(file, keep)
        writer.recall(count)
        assert news(writer) == [TurnsRecalled(())]
        number = writer.forget()
        assert ForgetResult(number) in news(writer)
        writer.recall(count)
        assert news(writer) == [TurnsRecalled((), number)]
        writer.close()


def test_an_erasure_interrupted_by_a_power_cut_is_finished_at_the_next_start(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1, "a-secret-word"))
    memory.close()
    file.rename(file.with_name(f"{file.name}.0{APART}"))  # the state that the power cut left
    writer = MemoryWriter(file, 10)
    writer.recall(5)
    assert news(writer) == [TurnsRecalled(())]
    assert not any(b"a-secret-word" in each.read_bytes() for each in file.parent.iterdir())
    writer.close()


# ── the writer ───────────────────────────────────────────────────────────────────────────────
def news(writer: MemoryWriter, count: int = 1) -> list[MemoryNews]:
    """Wait for `count` news of the writer."""
    found: list[MemoryNews] = []
    end_s = time.monotonic() + 20
    while len(found) < count and time.monotonic() < end_s:
        found += writer.pop_news()
        time.sleep(0.005)
    return found


def test_the_writer_recalls_what_was_queued_before(file: Path) -> None:
    writer = MemoryWriter(file, 10)
    writer.remember(turn(1))
    writer.recall(5)
    assert news(writer) == [TurnsRecalled((turn(1),))]
    number = writer.forget()
    writer.recall(5)
    assert news(writer, 2) == [ForgetResult(number), TurnsRecalled(())]
    writer.close()


def test_an_order_to_forget_is_confirmed_after_the_erasure(file: Path) -> None:
    writer = MemoryWriter(file, 10)
    for number in range(3):
        writer.remember(turn(number, f"a-secret-word {number}"))
    last = writer.forget(last=True)
    assert news(writer) == [ForgetResult(last)]
    assert not any(b"a-secret-word 2" in each.read_bytes() for each in file.parent.iterdir())
    everything = writer.forget()
    assert news(writer) == [ForgetResult(everything)]
    assert list(file.parent.iterdir()) == []
    writer.close()


def test_turns_recalled_before_an_order_to_forget_are_not_delivered_after_it(file: Path) -> None:
    writer = MemoryWriter(file, 10)
    writer.remember(turn(1))
    writer.recall(5)
    poll = select.poll()
    poll.register(writer.fileno(), select.POLLIN)
    assert poll.poll(20_000), "the recalled turns are ready"
    number = writer.forget(last=True)
    assert news(writer) == [ForgetResult(number)]
    writer.close()


@pytest.mark.process
def test_after_a_failed_erasure_nothing_is_recalled_and_the_erasure_is_retried(
    read_only_disk: tuple[Path, Callable[[], None]], tmp_path: Path
) -> None:
    place, make_writable = read_only_disk
    writer = MemoryWriter(place / "memory.db", 10, tmp_path)
    number = writer.forget()
    health, failed = news(writer, 2)
    assert isinstance(health, MemoryHealth)
    assert isinstance(failed, ForgetResult)
    assert (failed.number, failed.late) == (number, False)
    assert "Read-only" in failed.problem
    writer.recall(5)
    assert news(writer) == [TurnsRecalled(())], "no turn is recalled while an erasure is pending"
    again = writer.forget(last=True)
    (refused,) = news(writer)
    assert isinstance(refused, ForgetResult)
    assert (refused.number, bool(refused.problem)) == (again, True)
    writer.close()
    writer = MemoryWriter(place / "memory.db", 10, tmp_path)  # a restarted conductor
    writer.recall(5)
    assert news(writer) == [TurnsRecalled(())]
    make_writable()
    writer.recall(5)
    late, recalled = news(writer, 2)
    assert isinstance(late, ForgetResult)
    assert (late.problem, late.late) == ("", True)
    assert recalled == TurnsRecalled(())
    assert not (tmp_path / OWED).exists()
    writer.close()


@pytest.mark.process
def test_a_full_queue_accepts_an_order_to_forget(file: Path) -> None:
    Memory(file, 1000).close()
    lock = sqlite3.connect(file, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")  # the first turn waits for this lock, the others for the first
    writer = MemoryWriter(file, 1000, busy_s=60.0)  # it hangs until all has been ordered
    for number in range(MOST_WAITING + 10):
        writer.remember(turn(number, "a-secret-word"))
    numbers = [writer.forget() for _ in range(MOST_FORGETS + 10)]
    lock.close()
    answered: dict[int, str] = {}
    while len(answered) < len(numbers) and (told := news(writer)):
        answered |= {item.number: item.problem for item in told if isinstance(item, ForgetResult)}
    assert sorted(answered) == numbers, "each order is answered"
    refused = [number for number, problem in answered.items() if problem]
    assert 1 <= len(refused) <= 10, "only those over the limit, less those already done"
    assert all("hangs" in answered[number] for number in refused)
    writer.close()
    assert list(file.parent.iterdir()) == [], "no turn was written after the order to forget"


def test_the_writer_writes_everything_before_it_closes(file: Path) -> None:
    writer = MemoryWriter(file, 1000)
    for number in range(100):
        writer.remember(turn(number))
    writer.close()
    assert Memory(file, 1000).count() == 100


def test_the_writer_reports_once_that_a_damaged_memory_was_set_aside(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    writer = MemoryWriter(file, 10)
    writer.remember(turn(1))
    writer.recall(1)
    told, recalled = news(writer, 2)
    assert isinstance(told, MemoryHealth)
    assert told.set_aside
    assert recalled == TurnsRecalled((turn(1),))
    writer.close()


def test_a_disk_failure_and_its_end_are_reported_once_each(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    place.write_text("a file where the directory should be")
    writer = MemoryWriter(place / "memory.db", 10)
    for number in range(3):
        writer.remember(turn(number))
    told = news(writer)
    assert [(t.well, type(t)) for t in told if isinstance(t, MemoryHealth)] == [
        (False, MemoryHealth)
    ]
    place.unlink()
    writer.remember(turn(7))
    writer.recall(9)
    back, recalled = news(writer, 2)
    assert isinstance(back, MemoryHealth)
    assert back.well
    assert isinstance(recalled, TurnsRecalled)
    assert recalled.turns[-1] == turn(7)  # turns that were still waiting may come before it
    writer.close()


@pytest.mark.process
def test_a_full_disk_is_reported_once_and_the_writer_continues(small_disk: Path) -> None:
    writer = MemoryWriter(small_disk / "memory.db", 1_000_000)
    for number in range(60):
        writer.remember(turn(number, "x" * 60_000))
    told = news(writer)
    writer.close()
    assert [(t.well, "full" in t.text) for t in told if isinstance(t, MemoryHealth)] == [
        (False, True)
    ]


def test_a_memory_of_no_turns_touches_no_disk(file: Path) -> None:
    writer = MemoryWriter(file, 0)
    writer.remember(turn(1))
    writer.recall(1)
    writer.close()
    assert not file.parent.exists()


def test_one_turn_is_forgotten_and_the_others_are_recalled(file: Path) -> None:
    writer = MemoryWriter(file, 10)
    for number in range(3):
        writer.remember(turn(number, f"a-secret-word {number}"))
    chosen = writer.forget(chosen=(turn(1).started, 1))
    writer.recall(5)
    first, second = turn(0, "a-secret-word 0"), turn(2, "a-secret-word 2")
    assert news(writer, 2) == [ForgetResult(chosen), TurnsRecalled((first, second))]
    assert not any(b"a-secret-word 1" in each.read_bytes() for each in file.parent.iterdir())
    writer.close()


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
    write_private(tmp_path / OWED, noted.encode())
    writer = MemoryWriter(file, 10, tmp_path)
    writer.recall(5)
    assert news(writer, 2)[1] == TurnsRecalled(tuple(turn(number) for number in left))
    writer.close()


@pytest.mark.process
def test_a_chosen_turn_that_could_not_be_forgotten_is_noted_and_forgotten_later(
    read_only_disk: tuple[Path, Callable[[], None]], tmp_path: Path
) -> None:
    place, make_writable = read_only_disk
    writer = MemoryWriter(place / "memory.db", 10, tmp_path)
    writer.forget(chosen=(turn(1).started, 1))
    news(writer, 2)
    writer.close()
    assert (tmp_path / OWED).read_text() == f"0\n{turn(1).started} 1"
    make_writable()
    writer = MemoryWriter(place / "memory.db", 10, tmp_path)
    writer.recall(5)
    late, recalled = news(writer, 2)
    assert isinstance(late, ForgetResult)
    assert (late.problem, late.late, recalled) == ("", True, TurnsRecalled(()))
    writer.close()
