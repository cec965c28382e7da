"""The memory on disk: what it keeps, what it lets go, and what it survives."""

from __future__ import annotations

import random
import select
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from appliance.cli import memory as memory_commands
from appliance.dialog.memory import (
    Memory,
    MemoryDamaged,
    RememberedTurn,
    open_or_begin,
)
from appliance.dialog.memory_erase import forget_all, forget_last
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
from appliance.errors import StorageError
from appliance.runtime.memory_files import APART, path
from appliance.settings import Settings, load
from tests import skips

ROOT = Path(__file__).parents[2]


def turn(number: int, heard: str = "The moon is grey.", *, complete: bool = True) -> RememberedTurn:
    return RememberedTurn("2026-01-01T10:00:00+00:00", number, "", 1.5, heard, complete, "pocket")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "memory.db"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    empty = tmp_path / "settings.yaml"
    empty.write_text("")
    return load(empty, {"state_dir": str(tmp_path)})


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


# ── keeping and letting go ───────────────────────────────────────────────────────────────────
def test_what_was_remembered_is_recalled_oldest_first(file: Path) -> None:
    memory = Memory(file, 10)
    for number in range(3):
        memory.remember(turn(number, complete=number != 1))
    assert memory.recall(2) == [turn(1, complete=False), turn(2)]
    memory.close()
    assert Memory(file, 10).recall(12) == [turn(0), turn(1, complete=False), turn(2)]


def test_only_so_many_turns_are_kept(file: Path) -> None:
    memory = Memory(file, 3)
    for number in range(10):
        memory.remember(turn(number))
    assert [t.turn for t in memory.recall(100)] == [7, 8, 9]


def test_the_memory_is_its_owners_alone(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1))
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    for each in file.parent.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each


def test_a_memory_that_others_could_read_is_closed_to_them(file: Path) -> None:
    Memory(file, 10).close()
    file.parent.chmod(0o755)
    file.chmod(0o644)
    Memory(file, 10).close()
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_word_of_what_is_forgotten_is_left_in_any_file(file: Path) -> None:
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


def test_the_newest_turn_is_forgotten_without_a_trace_and_no_other(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1, "a-first-word"))
    memory.remember(turn(2, "a-second-word"))
    memory.close()
    forget_last(file, 10)
    memory = Memory(file, 10)
    assert memory.recall(10) == [turn(1, "a-first-word")]
    assert not any(b"a-second-word" in each.read_bytes() for each in file.parent.iterdir())
    memory.close()
    forget_last(file, 10)
    forget_last(file, 10)
    assert Memory(file, 10).recall(10) == []


def test_the_last_turn_of_a_memory_that_cannot_be_read_goes_with_all_of_it(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"a-secret-word " * 1000)
    file.with_name("memory.db.damaged-20260101T000000").write_bytes(b"a-secret-word")
    forget_last(file, 10)
    assert list(file.parent.iterdir()) == []


def test_a_reader_from_a_shell_keeps_nothing_from_being_forgotten(file: Path) -> None:
    """`interlude memory show` at the same moment."""
    memory = Memory(file, 10)
    for number in range(3):
        memory.remember(turn(number, f"a-secret-word {number}"))
    memory.close()
    reader = sqlite3.connect(file)
    reader.execute("BEGIN")
    assert len(reader.execute("SELECT * FROM turns").fetchall()) == 3
    forget_last(file, 10)
    forget_all(file)
    reader.close()
    assert not any(b"a-secret-word" in each.read_bytes() for each in file.parent.iterdir())


def test_what_a_power_cut_left_half_forgotten_is_finished_at_the_next_start(file: Path) -> None:
    memory = Memory(file, 10)
    memory.remember(turn(1, "a-secret-word"))
    memory.close()
    file.rename(file.with_name(f"{file.name}.0{APART}"))  # as far as it came
    scribe = MemoryWriter(file, 10)
    scribe.recall(5)
    assert news(scribe) == [TurnsRecalled(())]
    assert not any(b"a-secret-word" in each.read_bytes() for each in file.parent.iterdir())
    scribe.close()


def test_a_turn_that_was_let_go_leaves_no_word_either(file: Path) -> None:
    memory = Memory(file, 1)
    memory.remember(turn(1, "a-secret-word"))
    memory.remember(turn(2))
    memory.close()
    assert b"a-secret-word" not in file.read_bytes()


# ── deaths and damage ────────────────────────────────────────────────────────────────────────
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
def test_a_kill_at_any_moment_leaves_a_prefix(file: Path) -> None:
    chance = random.Random(5)
    written = 0
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, cwd=ROOT
        )
        assert child.stdout is not None
        said = child.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.06))
        child.send_signal(signal.SIGKILL)
        said += child.stdout.read()
        child.wait()
        child.stdout.close()
        promised = int(said.split(b"\n")[-2] or 0)
        memory, aside = open_or_begin(file, 1_000_000)
        turns = memory.recall(1_000_000)
        memory.close()
        assert aside is None
        assert [t.turn for t in turns] == list(range(len(turns)))
        assert len(turns) >= promised
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
def test_a_damaged_memory_is_set_aside_and_a_new_one_begun(file: Path, kind: str) -> None:
    memory = Memory(file, 1000)
    for number in range(100):
        memory.remember(turn(number, "x" * 200))
    memory.close()
    file.write_bytes(DAMAGE[kind](file.read_bytes()))
    memory, aside = open_or_begin(file, 1000, lambda: datetime(2026, 5, 4, 3, 2, 1))
    assert aside == file.with_name("memory.db.damaged-20260504T030201")
    assert list(file.parent.glob(f"{file.name}.damaged-*")) == [aside]
    assert memory.recall(10) == []
    memory.remember(turn(1))
    assert memory.recall(10) == [turn(1)]


def test_a_database_of_somebody_else_is_set_aside(file: Path) -> None:
    file.parent.mkdir()
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE recipes (bread TEXT)")
    other.close()
    _, aside = open_or_begin(file, 10)
    assert aside is not None


def test_an_empty_file_is_a_new_memory(file: Path) -> None:
    file.parent.mkdir()
    file.touch()
    memory, aside = open_or_begin(file, 10)
    assert (memory.recall(1), aside) == ([], None)


def test_a_memory_of_a_newer_version_is_left_alone(file: Path) -> None:
    Memory(file, 10).close()
    newer = sqlite3.connect(file)
    newer.execute("PRAGMA user_version = 2")
    newer.close()
    before = file.read_bytes()
    with pytest.raises(StorageError, match=r"newer Interlude.*Update Interlude"):
        open_or_begin(file, 10)
    assert file.read_bytes() == before
    assert not list(file.parent.glob(f"{file.name}.damaged-*"))


def test_a_place_that_is_not_ours_to_write_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match=r"cannot be used .*\. See that"):
        open_or_begin(Path("/proc/interlude/memory.db"), 10)


# ── the scribe ───────────────────────────────────────────────────────────────────────────────
def news(scribe: MemoryWriter, count: int = 1) -> list[MemoryNews]:
    """What it tells, waited for."""
    found: list[MemoryNews] = []
    end_s = time.monotonic() + 20
    while len(found) < count and time.monotonic() < end_s:
        found += scribe.pop_news()
        time.sleep(0.005)
    return found


def test_the_writer_recalls_what_it_was_told_before(file: Path) -> None:
    scribe = MemoryWriter(file, 10)
    scribe.remember(turn(1))
    scribe.recall(5)
    assert news(scribe) == [TurnsRecalled((turn(1),))]
    number = scribe.forget()
    scribe.recall(5)
    assert news(scribe, 2) == [ForgetResult(number), TurnsRecalled(())]
    scribe.close()


def test_an_order_to_forget_is_answered_when_it_is_so(file: Path) -> None:
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


def test_turns_recalled_before_an_order_to_forget_are_not_handed_on_after_it(file: Path) -> None:
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
def test_what_could_not_be_forgotten_is_withheld_and_forgotten_later(
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


def test_a_queue_that_is_full_of_turns_takes_an_order_to_forget(file: Path) -> None:
    Memory(file, 1000).close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")  # the first turn waits for this, the others for the first
    scribe = MemoryWriter(file, 1000)
    for number in range(MOST_WAITING + 10):
        scribe.remember(turn(number, "a-secret-word"))
    numbers = [scribe.forget() for _ in range(MOST_FORGETS + 10)]
    told = news(scribe, len(numbers) + 2)
    other.close()
    answered = {item.number: item.problem for item in told if isinstance(item, ForgetResult)}
    assert sorted(answered) == numbers, "each has its answer"
    refused = [number for number, problem in answered.items() if problem]
    assert len(refused) in (9, 10), "beyond those that may wait"
    assert all("hangs" in answered[number] for number in refused)
    scribe.close()
    assert list(file.parent.iterdir()) == [], "and no turn was written that was to be forgotten"


def test_the_writer_writes_everything_before_it_closes(file: Path) -> None:
    scribe = MemoryWriter(file, 1000)
    for number in range(100):
        scribe.remember(turn(number))
    scribe.close()
    assert Memory(file, 1000).count() == 100


def test_the_writer_says_once_that_a_damaged_memory_was_set_aside(file: Path) -> None:
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


def test_without_a_disk_the_writer_says_so_once_and_says_when_it_is_back(tmp_path: Path) -> None:
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
    assert recalled == TurnsRecalled((turn(7),))
    scribe.close()


@pytest.mark.process
def test_a_full_disk_is_said_once_and_the_talk_goes_on(small_disk: Path) -> None:
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


# ── interlude memory ─────────────────────────────────────────────────────────────────────────
def test_the_owner_is_shown_what_is_remembered(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(path(settings), 10)
    memory.remember(turn(1, complete=False))
    memory.close()
    assert memory_commands.cli_show(settings) == 0
    said = capsys.readouterr().out
    assert "(1.5 s of speech)" in said
    assert "The moon is grey. …(cut)" in said


def test_the_owner_may_have_it_forgotten(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = Memory(path(settings), 10)
    memory.remember(turn(1))
    memory.close()
    assert memory_commands.cli_forget(settings) == 0
    assert "1 turn is forgotten." in capsys.readouterr().out
    assert Memory(path(settings), 10).count() == 0


def test_where_nothing_is_remembered_nothing_is_made(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert memory_commands.cli_show(settings) == 0
    assert memory_commands.cli_forget(settings) == 0
    assert capsys.readouterr().out == "Nothing is remembered.\nThere was nothing to forget.\n"
    assert not path(settings).parent.exists()


def test_a_damaged_memory_is_not_shown_but_may_be_forgotten(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    file = path(settings)
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    with pytest.raises(MemoryDamaged, match="is damaged"):
        memory_commands.cli_show(settings)
    assert memory_commands.cli_forget(settings) == 0
    assert list(file.parent.iterdir()) == []
