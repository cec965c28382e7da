"""The stored mute: two small files; an unreadable one mutes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from appliance.atomic_file import fresh_name
from appliance.background_file import write_private
from appliance.dialog.mute_store import (
    FILE,
    MARK,
    MuteStore,
    MuteWriteResult,
    StoredMute,
    merge,
    read_file,
)
from tests.waiting import PATIENCE_S, until

MUTED, OPEN = True, False


def start(state: Path, memory: Path | None = None) -> tuple[MuteStore, StoredMute]:
    store = MuteStore(state / FILE, memory)
    found = store.stored(PATIENCE_S)
    assert found is not None
    return store, found


def end(store: MuteStore) -> None:
    store.request_stop()
    store.join()


def write_result(store: MuteStore) -> MuteWriteResult:
    """Wait for the result of the last write."""
    found: list[MuteWriteResult] = []

    def look() -> bool:
        found.extend(item for item in store.pop_news() if isinstance(item, MuteWriteResult))
        return bool(found)

    until(look)
    return found[-1]


def test_a_box_that_was_never_muted_starts_unmuted(tmp_path: Path) -> None:
    store, found = start(tmp_path / "state", tmp_path / "run")
    end(store)
    assert found == StoredMute(muted=False, on_disk=False)  # not written yet


@pytest.mark.parametrize("muted", [MUTED, OPEN])
@pytest.mark.parametrize("lost", ["nothing", "what was in memory"])
def test_the_last_stored_mute_survives_a_restart_and_a_power_cut(
    tmp_path: Path, muted: bool, lost: str
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    store, _ = start(tmp_path, run)
    for value in (MUTED, OPEN, MUTED, muted):
        store.store(muted=value)
    assert write_result(store) == MuteWriteResult(muted, "", in_memory=True, serial=store._serial)
    if lost != "nothing":
        (run / FILE).unlink()
    again, found = start(tmp_path, run)
    assert (found.muted, found.problem, found.on_disk) == (muted, "", True)
    end(store)
    end(again)


@pytest.mark.parametrize("muted", [MUTED, OPEN])
def test_on_an_unwritable_card_mute_survives_a_restart_in_memory_and_the_failure_is_reported(
    tmp_path: Path, muted: bool
) -> None:
    run, card = tmp_path / "run", tmp_path / "card"
    run.mkdir()
    card.mkdir()
    write_private(card / FILE, json.dumps({"version": 1, "serial": 7, "muted": not muted}).encode())
    store, _ = start(card, run)
    before = (card / FILE).read_bytes()
    fresh_name(card / FILE).mkdir()  # makes every write fail, as on a card gone read-only
    store.store(muted=muted)
    result = write_result(store)
    assert result.problem
    assert result.in_memory
    assert (card / FILE).read_bytes() == before
    again, found = start(card, run)
    assert (found.muted, found.on_disk) == (muted, False)
    end(store)
    end(again)


def test_without_a_folder_in_memory_an_unstored_mute_is_not_reported_as_kept(
    tmp_path: Path,
) -> None:
    fresh_name(tmp_path / FILE).mkdir(parents=True)
    store, _ = start(tmp_path)
    store.store(muted=True)
    assert (write_result(store).problem != "", store.in_memory) == (True, False)
    end(store)


DAMAGED = (
    b"", b"{", b"[]", b"\xff\xfe", b'{"version":1}', b'{"version":2,"serial":1,"muted":false}',
    b'{"version":1,"serial":-1,"muted":false}', b'{"version":1,"serial":1,"muted":0}',
    b'{"version":1,"serial":1e400,"muted":false}', b'{"version":1,"serial":99999999999999999999,'
    b'"muted":false}', b'{"version":1,"serial":1,"muted":false}' + b" " * 2000 + b"x", b"[" * 900,
)  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED)
@pytest.mark.parametrize("place", ["card", "run"])
def test_a_damaged_file_mutes_whatever_the_other_file_contains(
    tmp_path: Path, content: bytes, place: str
) -> None:
    for name in ("card", "run"):
        (tmp_path / name).mkdir()
        good = json.dumps({"version": 1, "serial": 2**40, "muted": False}).encode()
        write_private(tmp_path / name / FILE, content if name == place else good)
    store, found = start(tmp_path / "card", tmp_path / "run")
    assert found.muted
    assert str(tmp_path / place / FILE) in found.problem
    end(store)


@pytest.mark.parametrize("muted", [MUTED, OPEN])
@pytest.mark.parametrize("lost", ["the file", "the file and what was in memory"])
def test_a_mute_file_that_disappeared_mutes(tmp_path: Path, muted: bool, lost: str) -> None:
    run = tmp_path / "run"
    run.mkdir()
    store, _ = start(tmp_path, run)
    store.store(muted=muted)
    write_result(store)
    end(store)
    until((tmp_path / FILE).with_name(MARK).exists)
    (tmp_path / FILE).unlink()
    if lost != "the file":
        (run / FILE).unlink()
    again, found = start(tmp_path, run)
    assert (found.muted, found.on_disk) == (True, False)
    assert "is gone" in found.problem
    again.store(muted=False)  # the owner's command
    write_result(again)
    end(again)
    third, found = start(tmp_path, run)
    assert (found.muted, found.problem) == (False, "")
    end(third)


def test_a_disappeared_mute_file_of_an_earlier_version_mutes_too(tmp_path: Path) -> None:
    write_private(tmp_path / FILE, b'{"version":1,"serial":5000,"muted":true}')
    for problem in (False, True):
        store, found = start(tmp_path)
        end(store)
        assert (found.muted, bool(found.problem)) == (True, problem)
        until((tmp_path / FILE).with_name(MARK).exists)
        (tmp_path / FILE).unlink(missing_ok=True)


def test_a_mute_that_could_not_be_moved_to_the_conductors_folder_mutes(tmp_path: Path) -> None:
    """Before the parts had folders of their own, file and mark lay in the state folder itself."""
    (tmp_path / MARK).touch()
    store, found = start(tmp_path)
    end(store)
    assert (found.muted, found.on_disk) == (True, False)
    assert "is gone" in found.problem


def test_a_file_that_cannot_be_opened_mutes_and_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").touch()
    for place in ("folder", "pipe", "loop", "file/below"):
        found = read_file(tmp_path / place)
        assert found is not None, place
        assert found.muted, place
        assert found.problem, place


def test_a_missing_file_reads_as_none(tmp_path: Path) -> None:
    assert read_file(tmp_path / "none") is None
    assert read_file(tmp_path / "none" / "below") is None


@pytest.mark.parametrize(
    ("disk", "memory", "muted", "on_disk"),
    [
        (None, None, OPEN, False),
        (StoredMute(MUTED, 3), None, MUTED, True),
        (StoredMute(OPEN, 3), None, OPEN, True),
        (None, StoredMute(MUTED, 3), MUTED, False),
        (StoredMute(OPEN, 3), StoredMute(MUTED, 4), MUTED, False),
        (StoredMute(MUTED, 3), StoredMute(OPEN, 4), OPEN, False),
        (StoredMute(MUTED, 4), StoredMute(OPEN, 3), MUTED, True),
        (StoredMute(OPEN, 4), StoredMute(MUTED, 3), OPEN, True),
        (StoredMute(OPEN, 4), StoredMute(MUTED, 4), MUTED, False),
        (StoredMute(MUTED, 0, "damaged"), StoredMute(OPEN, 4), MUTED, False),
        (StoredMute(OPEN, 4), StoredMute(MUTED, 0, "damaged"), MUTED, False),
    ],
)
def test_the_newer_of_two_files_counts_and_a_tie_mutes(
    disk: StoredMute | None, memory: StoredMute | None, muted: bool, on_disk: bool
) -> None:
    found = merge(disk, memory)
    assert (found.muted, found.on_disk) == (muted, on_disk)


def test_each_store_has_a_higher_serial_even_when_the_clock_went_back(
    tmp_path: Path,
) -> None:
    write_private(tmp_path / FILE, b'{"version":1,"serial":5000,"muted":false}')
    store = MuteStore(tmp_path / FILE, None, wall_s=lambda: 10.0)
    assert store.stored(PATIENCE_S) is not None
    store.store(muted=True)
    write_result(store)
    end(store)
    found = read_file(tmp_path / FILE)
    assert found is not None
    assert (found.muted, found.serial) == (True, 5001)
