"""The memory on disk: one row per turn, with the heard part of the answer and no more.

SQLite in WAL mode: a kill at any moment leaves a prefix of the turns; a power cut may lose the
last ones, never the file. No block that held words is freed before it is overwritten: the log is
zeroed before SQLite unlinks it, and the file never shrinks. memory_erase.py erases turns.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields, replace
from datetime import datetime
from itertools import starmap
from pathlib import Path
from typing import Any

from appliance.errors import StorageError
from appliance.runtime.secure_erase import erase, overwrite

VERSION = 1  # PRAGMA user_version of the layout; older code works with the added transcript, too
DAMAGED = ".damaged-"  # in the name of a damaged file that was set aside; a time stamp follows
LOG = "-wal"  # SQLite's name for the write-ahead log beside a file
UNCLEARED = "-uncleared"  # in the second name of a log that SQLite may unlink before it is zeroed
_LOG_HEADER = 32  # bytes before the log's first frame: no content (sqlite.org/walformat)
BUSY_S = 2.0  # `interlude memory` and the box may write at the same time
_DAMAGED_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LAYOUT = """
CREATE TABLE turns (
    id       INTEGER PRIMARY KEY,
    started  TEXT NOT NULL,     -- when the question was complete; local time, ISO 8601 with offset
    turn     INTEGER NOT NULL,  -- the answer's number since the box was switched on
    asked    TEXT NOT NULL,     -- typed words; '' for speech
    seconds  REAL NOT NULL,     -- that the owner spoke
    heard    TEXT NOT NULL,     -- what left the loudspeaker
    complete INTEGER NOT NULL,  -- 1: all of the answer was heard
    model    TEXT NOT NULL,
    transcript TEXT NOT NULL DEFAULT ''  -- of speech, by the model, made later; '' if there is none
) STRICT
"""
_ADD_TRANSCRIPT = "ALTER TABLE turns ADD COLUMN transcript TEXT NOT NULL DEFAULT ''"


@dataclass(frozen=True)
class RememberedTurn:
    """One row; the comments in _LAYOUT describe the fields."""

    started: str
    turn: int
    asked: str
    seconds: float
    heard: str
    complete: bool
    model: str
    transcript: str = ""


_FIELDS = {field.name for field in fields(RememberedTurn)}
_INSERT = """
INSERT INTO turns (started, turn, asked, seconds, heard, complete, model, transcript)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_NEWEST = """
SELECT started, turn, asked, seconds, heard, complete, model, transcript
FROM turns ORDER BY id DESC LIMIT ?
"""
_TRANSCRIBE = """UPDATE turns SET transcript = ?
WHERE id = (SELECT max(id) FROM turns WHERE started = ? AND turn = ?)"""


class MemoryDamaged(StorageError):
    """The file is corrupt, or is not a memory of Interlude."""


class Memory:
    """An open memory. All methods raise StorageError; the box can talk without a memory."""

    def __init__(
        self, file: Path, keep_turns: int, *, exclusive: bool = False, busy_s: float = BUSY_S
    ) -> None:
        """Open or create `file`. Raises MemoryDamaged, or StorageError if it cannot be used.

        `exclusive`: lock out other connections; that needs no shared index, and so no free space.
        `busy_s`: how long to wait while another connection writes.
        """
        self.file = file
        self._keep = keep_turns
        self._exclusive = exclusive
        _make_private(file)
        with self._named_errors():
            self._db = sqlite3.connect(
                file, timeout=busy_s, isolation_level=None, check_same_thread=False
            )
        try:
            with self._named_errors():
                self._prepare()
        except StorageError:
            self._db.close()
            raise

    def _prepare(self) -> None:
        if self._exclusive:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        version = self._value("PRAGMA user_version")
        if version > VERSION:
            raise StorageError(
                f"{self.file} was written by a newer Interlude (format {version}).",
                "Update Interlude, or move the file away.",
            )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")  # no fsync a turn: SD cards stall on it
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("PRAGMA temp_store = MEMORY")  # no temporary file with words in it
        if self._value("PRAGMA quick_check(1)") != "ok":
            raise MemoryDamaged(f"{self.file} is damaged.")
        if version == 0:
            with self._transaction():
                if not self._value("SELECT count(*) FROM sqlite_schema"):
                    self._db.execute(_LAYOUT)
                    self._db.execute(f"PRAGMA user_version = {VERSION}")
        missing = self._missing_columns()
        if self._value("PRAGMA user_version") != VERSION or missing - {"transcript"}:
            raise MemoryDamaged(f"{self.file} is not a memory of Interlude.")
        self._insert, self._newest = _INSERT, _NEWEST
        if missing:
            try:
                self._db.execute(_ADD_TRANSCRIPT)
            except sqlite3.OperationalError:  # a full disk: reading and erasing still work
                self._insert = _INSERT.replace(", transcript", "").replace("?, ", "", 1)
                self._newest = _NEWEST.replace("transcript", "''")

    def _missing_columns(self) -> set[str]:
        """The columns that the table lacks."""
        columns = self._db.execute("SELECT name FROM pragma_table_info('turns')")
        return _FIELDS - {name for (name,) in columns}

    def remember(self, turn: RememberedTurn) -> None:
        """Add a turn, and delete the oldest ones beyond `keep_turns`."""
        with self._named_errors(), self._transaction():
            self._db.execute(self._insert, self._values(turn))
            self._db.execute(
                "DELETE FROM turns WHERE id <= (SELECT max(id) FROM turns) - ?", (self._keep,)
            )

    def transcribe(self, started: str, turn: int, transcript: str) -> None:
        """Store the transcript of a turn, unless the turn has been deleted."""
        with self._named_errors(), self._transaction():
            self._db.execute(_TRANSCRIBE, (transcript, started, turn))

    def recall(self, count: int) -> list[RememberedTurn]:
        """The last `count` turns, oldest first."""
        with self._named_errors():
            rows = self._db.execute(self._newest, (count,)).fetchall()
        turns = starmap(RememberedTurn, rows[::-1])
        return [replace(turn, complete=bool(turn.complete)) for turn in turns]

    def count(self) -> int:
        with self._named_errors():
            return int(self._value("SELECT count(*) FROM turns"))

    def rewrite(self, turns: list[RememberedTurn]) -> None:
        """Keep only `turns`: remove every trace of any other turn from the file and its log.

        All rows are deleted and `turns` are inserted again in one transaction: deleting a single
        row may leave a copy of it in the free part of a page from which SQLite once moved it.
        """
        with self._named_errors():
            with self._transaction():
                self._db.execute("DELETE FROM turns")  # overwrites all its pages: secure_delete
                self._db.executemany(self._insert, map(self._values, turns))
            self._clear_log()

    def close(self) -> None:
        """Zero the log, then close. The last connection to close unlinks the log."""
        uncleared = None
        try:
            with self._named_errors():
                self._clear_log()
        except StorageError:
            uncleared = _link_log(self.file)
        self._db.close()
        if uncleared is not None:
            clear_leftover(self.file)

    def _clear_log(self) -> None:
        """Checkpoint the log into the file, then overwrite the log with zeros.

        Raises StorageError when another connection keeps the log in use.
        """
        for _ in range(3):
            before = self._value("PRAGMA data_version")
            busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            if busy:
                break
            with self._transaction():  # other connections cannot write from here on
                if self._value("PRAGMA data_version") == before:
                    _zero_log(self.file)
                    return
        raise StorageError(
            f"{self.file} is in use by another program.", "Close it, and ask once more."
        )

    def _values(self, turn: RememberedTurn) -> tuple[Any, ...]:
        return astuple(turn)[: self._insert.count("?")]

    def _value(self, query: str) -> Any:
        return self._db.execute(query).fetchone()[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a full disk has rolled it back already
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary result code
            if code in _DAMAGED_CODES:
                raise MemoryDamaged(f"{self.file} is damaged ({error}).") from error
            raise StorageError(
                f"{self.file} cannot be used ({error}).",
                "Is the disk full, or mounted read-only?",
            ) from error


def open_memory(file: Path, keep_turns: int, busy_s: float = BUSY_S) -> Memory:
    """Open the memory, with one retry, since a single failed read of a card is no damage. Raises
    MemoryDamaged if both attempts find damage, or StorageError."""
    try:
        return Memory(file, keep_turns, busy_s=busy_s)
    except MemoryDamaged:
        return Memory(file, keep_turns, busy_s=busy_s)


def open_or_replace(
    file: Path,
    keep_turns: int,
    now: Callable[[], datetime] = datetime.now,
    busy_s: float = BUSY_S,
) -> tuple[Memory, Path | None]:
    """Open the memory; a damaged file is renamed and replaced, and its new path returned as well.

    Raises StorageError if no memory can be opened, or if a newer version wrote it.
    """
    try:
        return open_memory(file, keep_turns, busy_s), None
    except MemoryDamaged:
        aside = file.with_name(f"{file.name}{DAMAGED}{now():%Y%m%dT%H%M%S}")
        try:
            file.rename(aside)
            for suffix in ("-wal", "-shm"):
                companion = file.with_name(file.name + suffix)
                if companion.exists():
                    companion.rename(aside.with_name(aside.name + suffix))
        except OSError as error:
            raise _storage_error(file, error) from error
        return Memory(file, keep_turns, busy_s=busy_s), aside


def write_anew(file: Path, turns: list[RememberedTurn]) -> None:
    """Create `file`, which must not exist, with `turns`; without a log, to need the least space.

    Raises StorageError.
    """
    _make_private(file)
    try:
        with closing(sqlite3.connect(file, timeout=BUSY_S)) as db:
            db.execute("PRAGMA journal_mode = OFF")
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute(_LAYOUT)
            db.executemany(_INSERT, map(astuple, turns))
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.commit()
    except sqlite3.Error as error:
        problem = f"{len(turns)} turns could not be written back to {file} ({error})."
        raise StorageError(problem, "Is the disk full?") from error


def _zero_log(file: Path) -> None:
    """Overwrite every frame of a log that has been checkpointed. Its header stays as it is."""
    try:
        fd = os.open(file.with_name(file.name + LOG), os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _storage_error(file, error) from error
    try:
        overwrite(fd, _LOG_HEADER)
    except OSError as error:
        raise _storage_error(file, error) from error
    finally:
        os.close(fd)


def _link_log(file: Path) -> Path | None:
    """Hard-link a log that could not be zeroed: SQLite may unlink its first name."""
    name = file.with_name(file.name + UNCLEARED)
    with suppress(OSError):
        name.unlink(missing_ok=True)
        name.hardlink_to(file.with_name(file.name + LOG))
        return name
    return None


def clear_leftover(file: Path) -> None:
    """Erase a log that was closed without being zeroed. If SQLite still uses it, only its second
    name goes. If erasing fails the file stays, and the next start or erasure tries again."""
    name = file.with_name(file.name + UNCLEARED)
    with suppress(OSError):
        if name.stat().st_nlink > 1:
            name.unlink()
        else:
            erase([name])


def _make_private(file: Path) -> None:
    """Restrict the directory and the file to their owner, before anything is written."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.parent.chmod(0o700)
        fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(fd, 0o600)
        finally:
            os.close(fd)
    except OSError as error:
        raise _storage_error(file, error) from error


def _storage_error(file: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{file} cannot be used ({error.strerror}).",
        "See that the disk has room and that its directory is yours to write.",
    )
