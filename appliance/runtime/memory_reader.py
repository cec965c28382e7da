"""Reads the memory for the page, while the conductor may write the same file.

In: the memory's file (dialog/memory.py has its layout). Out: turns, the newest first. It keeps no
connection between calls, so that erasing the memory never waits for it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from appliance.errors import ShownAs, StorageError

_BUSY_S = 1.0
_COLUMNS = "started, turn, asked, seconds, heard, complete"


@dataclass(frozen=True)
class StoredTurn:
    """As RememberedTurn; `transcript`: the model's transcript of the speech."""

    started: str
    turn: int
    asked: str
    seconds: float
    heard: str
    complete: bool
    transcript: str = ""


def read_turns(file: Path, count: int, skip: int = 0) -> tuple[list[StoredTurn], int]:
    """At most `count` turns, the newest first, after skipping `skip`; and the number of all turns.
    Raises StorageError for a file that cannot be read now."""
    if not file.exists():
        return [], 0
    # This process may not write the folder (process_table.FILES): SQLite then reads the log by the
    # writer's index. Without an index there is no writer, and so no log.
    immutable = not file.with_name(f"{file.name}-shm").exists()
    uri = f"file:{quote(str(file))}?mode=ro&immutable={immutable:d}"
    try:
        with closing(sqlite3.connect(uri, timeout=_BUSY_S, uri=True)) as db:
            db.execute("PRAGMA query_only = ON")
            db.execute("PRAGMA temp_store = MEMORY")  # no temporary file that would contain words
            names = {name for (name,) in db.execute("SELECT name FROM pragma_table_info('turns')")}
            transcript = "transcript" if "transcript" in names else "''"  # older file
            rows = db.execute(
                f"SELECT {_COLUMNS}, {transcript} FROM turns ORDER BY id DESC LIMIT ? OFFSET ?",  # noqa: S608 - names of ours
                (count, skip),
            ).fetchall()
            (total,) = db.execute("SELECT count(*) FROM turns").fetchone()
        return [_turn(row) for row in rows], int(total)
    except (sqlite3.Error, ValueError, TypeError) as error:
        problem, shown = (
            f"{file} cannot be read now ({error}).",
            ShownAs.of("page-memory-unreadable"),
        )
        raise StorageError(problem, "Try it again.", shown=shown) from error


def _turn(row: tuple[object, ...]) -> StoredTurn:
    started, turn, asked, seconds, heard, complete, transcript = row
    return StoredTurn(
        str(started), int(str(turn)), str(asked), float(str(seconds)), str(heard), bool(complete),
        str(transcript),
    )  # fmt: skip
