"""After a power cut at any point a restore is complete or absent, and it can be undone."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance.background_file import write_private
from appliance.cli.restore import complete_restore
from appliance.dialog.memory import Memory
from appliance.dialog.memory_erase import ChosenTurn, forget_all, forget_turn
from appliance.page.backup_file import Backup, BackupTimer, BackupTurn, pack
from appliance.runtime import memory_files, restore_files
from appliance.runtime.restore_files import BACK, BEFORE, PLAN, WANTED, RestoreOutcome
from appliance.settings import Settings, adjusted, load
from appliance.settings.adjusted import AdjustedSettings, AdjustedValue
from appliance.tools import timer_store
from tests.dialog.turns import turn
from tests.hear.bargein.damaged_archives import damaged

OLD, NEW = "an-old-word", "a-new-word"
BACKUP = Backup(
    1.8e9, "0.1.0", "Attic",
    tuple(BackupTurn(f"2026-01-0{n}", n, "", 1.0, f"{NEW} {n}", True) for n in (1, 2, 3)),
    (BackupTimer("eggs", 300.0, 1.8e9),), {}, AdjustedSettings(volume=AdjustedValue(0.25, 0.8)),
)  # fmt: skip


@pytest.fixture
def mine(tmp_path: Path) -> Settings:
    """A box that remembers two turns and has neither timers nor a volume that was set."""
    settings = load(None, {"state_dir": str(tmp_path)})
    memory = Memory(memory_files.path(settings), 10)
    for number in (1, 2):
        memory.remember(turn(number, f"{OLD} {number}"))
    memory.close()
    return settings


def recorded(settings: Settings) -> RestoreOutcome:
    found = restore_files.outcome(settings.state_path())
    assert found is not None
    return found


def test_the_outcome_is_recorded_for_the_page(mine: Settings) -> None:
    complete_restore(mine)
    assert restore_files.outcome(mine.state_path()) is None, "no restore was requested"
    want(mine)
    complete_restore(mine)
    assert recorded(mine).moves.keys() == {"memory", "timers", "adjusted"}
    assert (recorded(mine).back, recorded(mine).problem) == (False, "")
    write_private(mine.state_path() / BACK, b"")
    complete_restore(mine)
    assert recorded(mine).back
    want(mine, b"no archive at all")
    complete_restore(mine)
    failed = recorded(mine)
    assert (failed.moves, failed.key) == ({}, "page-wrong-backup-none")
    assert "not a backup of Interlude" in failed.problem


def want(settings: Settings, data: bytes | None = None) -> None:
    place = restore_files.archive(settings.state_path(), WANTED)
    write_private(place, pack(BACKUP) if data is None else data)


def remembered(settings: Settings) -> list[str]:
    memory = Memory(memory_files.path(settings), 10)
    try:
        return [recalled.heard for recalled in memory.recall(-1)]
    finally:
        memory.close()


def restored_state(settings: Settings) -> tuple[Any, ...]:
    state = settings.state_path()
    timers = state / "timers/timers.json"
    names = (
        [timer.name for timer in timer_store.decoded(timers.read_bytes())] if timers.exists() else 0
    )
    return remembered(settings), names, adjusted.adjusted(settings).speaking.volume


BEFORE_IT = ([f"{OLD} 1", f"{OLD} 2"], 0, 0.8)
AFTER_IT = ([f"{NEW} {n}" for n in (1, 2, 3)], ["eggs"], 0.25)


def words_on_disk(settings: Settings, word: str) -> int:
    files = [path for path in settings.state_path().rglob("*") if path.is_file()]
    return sum(word.encode() in path.read_bytes() for path in files)


def test_a_restore_is_applied_once_and_can_be_undone_and_redone(mine: Settings) -> None:
    assert restored_state(mine) == BEFORE_IT
    want(mine)
    complete_restore(mine)
    assert restored_state(mine) == AFTER_IT
    complete_restore(mine)
    assert restored_state(mine) == AFTER_IT
    for expected in (BEFORE_IT, AFTER_IT):
        assert restore_files.replaced(mine.state_path()) is not None
        write_private(mine.state_path() / BACK, b"")
        complete_restore(mine)
        assert restored_state(mine) == expected
    assert not list(mine.state_path().rglob("*.restore-*"))


def test_a_box_without_a_request_starts_unchanged(mine: Settings) -> None:
    complete_restore(mine)
    write_private(mine.state_path() / BACK, b"")  # there is nothing to undo
    complete_restore(mine)
    assert restored_state(mine) == BEFORE_IT
    assert not (mine.state_path() / BACK).exists()


@pytest.mark.parametrize("data", [b"", b"x" * 1000, pack(BACKUP)[:-9]])
def test_an_unusable_archive_changes_nothing_and_is_not_tried_again(
    mine: Settings, data: bytes
) -> None:
    want(mine, data)
    complete_restore(mine)
    assert restored_state(mine) == BEFORE_IT
    assert not restore_files.archive(mine.state_path(), WANTED).exists()


def test_an_archive_that_was_only_checked_is_never_restored(mine: Settings) -> None:
    checked = restore_files.archive(mine.state_path(), restore_files.CHECKED)
    write_private(checked, pack(BACKUP))
    complete_restore(mine)
    assert restored_state(mine) == BEFORE_IT
    assert not checked.exists()


class PowerCut(BaseException):
    """Derives from BaseException, so that no handler of the product catches it."""


@pytest.mark.long
def test_a_power_cut_at_any_point_leaves_the_old_or_the_new_state_and_the_next_start_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The power cut comes before each call that changes the disk."""
    import os

    steps = ("rename", "replace", "unlink", "link", "open", "fsync")
    ended = False
    for cut in range(400):
        settings = load(None, {"state_dir": str(tmp_path / str(cut))})
        memory = Memory(memory_files.path(settings), 10)
        for number in (1, 2):
            memory.remember(turn(number, f"{OLD} {number}"))
        memory.close()
        want(settings)
        left = cut
        with monkeypatch.context() as patched:

            def counted(real: Any) -> Any:
                def call(*words: Any, **more: Any) -> Any:
                    nonlocal left
                    if left == 0:
                        raise PowerCut
                    left -= 1
                    return real(*words, **more)

                return call

            for name in steps:
                patched.setattr(os, name, counted(getattr(os, name)))
            try:
                complete_restore(settings)
                ended = True
            except PowerCut:
                pass
        complete_restore(settings)
        assert restored_state(settings) in (BEFORE_IT, AFTER_IT), cut
        assert not (settings.state_path() / PLAN).exists()
        if ended:
            break
    assert ended
    assert cut > 20, "there were too few points to cut at"


def test_erasing_the_memory_also_erases_the_replaced_and_the_restored_turns(mine: Settings) -> None:
    want(mine)
    complete_restore(mine)
    assert words_on_disk(mine, OLD) > 0
    forget_all(memory_files.path(mine))
    assert (words_on_disk(mine, OLD), words_on_disk(mine, NEW)) == (0, 0)
    assert restore_files.replaced(mine.state_path()) is None


def test_erasing_one_turn_erases_the_replaced_memory_that_may_contain_it(mine: Settings) -> None:
    want(mine)
    complete_restore(mine)
    forget_turn(memory_files.path(mine), 10, ChosenTurn("2026-01-01", 1))
    assert words_on_disk(mine, OLD) == 0
    assert remembered(mine) == [f"{NEW} 2", f"{NEW} 3"]


def test_with_a_memory_of_no_turns_no_turn_is_restored(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path), "memory": {"keep_turns": 0}})
    want(settings)
    complete_restore(settings)
    assert words_on_disk(settings, NEW) == 0
    assert adjusted.adjusted(settings).speaking.volume == 0.25


def test_an_enrolment_is_restored_only_if_the_listener_can_load_it(mine: Settings) -> None:
    bad = Backup(1.0, "0", "", enrolled=b"PK\x03\x04" + b"x" * 100)
    want(mine, pack(bad))
    complete_restore(mine)
    assert not (restore_files.place(mine.state_path(), "enrolled")).exists()
    assert not (mine.state_path() / "restore-trial").exists()


@pytest.mark.parametrize("wrong", damaged())
def test_a_damaged_enrolment_is_skipped_and_not_tried_again(mine: Settings, wrong: str) -> None:
    want(mine, pack(msgspec.structs.replace(BACKUP, enrolled=damaged()[wrong])))
    complete_restore(mine)
    assert recorded(mine).moves.keys() == {"memory", "timers", "adjusted"}
    assert recorded(mine).problem == ""
    assert restored_state(mine) == AFTER_IT
    assert not restore_files.archive(mine.state_path(), WANTED).exists()


def test_any_error_is_recorded_and_the_box_starts_unchanged(
    mine: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_memory(*_: object, **__: object) -> None:
        raise MemoryError

    want(mine)
    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", out_of_memory)
        complete_restore(mine)
    assert (recorded(mine).moves, recorded(mine).key) == ({}, "page-wrong-general")
    assert "MemoryError" in recorded(mine).problem
    assert not restore_files.archive(mine.state_path(), WANTED).exists()
    assert restored_state(mine) == BEFORE_IT


def test_a_damaged_memory_is_kept_as_the_replaced_one(mine: Settings) -> None:
    file = memory_files.path(mine)
    file.write_bytes(b"no database " * 400)
    want(mine)
    complete_restore(mine)
    assert restored_state(mine) == AFTER_IT
    before = restore_files.beside(mine.state_path(), "memory", BEFORE)
    assert before.read_bytes().startswith(b"no database")


def test_a_plan_that_names_a_file_outside_the_table_is_ignored(mine: Settings) -> None:
    plan = {"moves": {"../../etc/passwd": "take"}, "had": []}
    (mine.state_path() / PLAN).write_text(json.dumps(plan))
    complete_restore(mine)
    assert restored_state(mine) == BEFORE_IT
    assert restore_files.PLACES.keys() == {"memory", "timers", "adjusted", "enrolled"}
