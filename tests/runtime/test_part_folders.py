"""A box of an earlier version finds its files again, each in the folder of its part."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from appliance.dialog import mute_store, startup_notices
from appliance.dialog.memory_writer import OWED
from appliance.dialog.mute_store import MARK, MuteStore
from appliance.hear.aec import store
from appliance.mqtt import link, stale_topics
from appliance.page import access
from appliance.runtime import enrolled_files, factory_reset, memory_files, restore_files
from appliance.runtime.part_folders import move_earlier_files
from appliance.settings import adjusted, load
from tests.waiting import PATIENCE_S

EARLIER = (
    "mute.json", "adjusted.json", "told-of-releases", "to-be-forgotten", "reset-under-way",
    "page-access.json", "restore-back", "left-at-the-broker.json", "removed-from-home-assistant",
    "echo.npz", "verdict-owner.npz",
    "memory/memory.db.state-00017", "memory/memory.db.state-3.tried",
    "memory/memory.db.restore-upload", "memory/memory.db.restore-checked",
    "memory/memory.db.restore-wanted",
)  # fmt: skip
STAY = ("memory/memory.db", "memory/memory.db-wal", "memory/memory.db.memory.restore-new",
        "timers/timers.json", "enrolled/stop/a.wav", "settings-before.yaml", MARK)  # fmt: skip
MUTED = b'{"version":1,"serial":5000,"muted":true}'


def lay(state: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text(name)


def test_each_file_of_an_earlier_version_is_where_its_part_looks_for_it(tmp_path: Path) -> None:
    lay(tmp_path, (*EARLIER, *STAY))
    move_earlier_files(tmp_path)
    settings = load(None, {"state_dir": str(tmp_path)})
    memory = memory_files.path(settings)
    names = (mute_store.FILE, adjusted.FILE, startup_notices.TOLD, OWED, factory_reset.NOTE,
             access.FILE, restore_files.BACK, store.FILE, enrolled_files.FILE)  # fmt: skip
    expected = {
        *(tmp_path / name for name in names),
        *(tmp_path / name for name in STAY),
        stale_topics.path(settings),
        link.removed(settings),
        memory_files.snapshots(memory) / "memory.db.state-00017",
        memory_files.snapshots(memory) / "memory.db.state-3.tried",
        *(restore_files.archive(tmp_path, end) for end in restore_files.ENDS[:3]),
    }
    found = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert found == expected
    assert {path.read_text().rpartition("/")[2] for path in found} == {path.name for path in found}
    move_earlier_files(tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == expected, "once is enough"


def test_a_file_of_the_earlier_version_that_ran_last_replaces_the_moved_one(tmp_path: Path) -> None:
    """After a return to the earlier version, and forward again."""
    lay(tmp_path, ("conductor/mute.json",))
    (tmp_path / "mute.json").write_bytes(MUTED)
    move_earlier_files(tmp_path)
    assert (tmp_path / mute_store.FILE).read_bytes() == MUTED


def test_the_socket_of_an_earlier_keyboard_panel_makes_room_for_the_folder(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
        wire.bind(str(tmp_path / "panel"))
    lay(tmp_path, ("reset-under-way",))
    move_earlier_files(tmp_path)
    assert (tmp_path / factory_reset.NOTE).exists()


def test_a_mute_survives_the_move_and_a_failed_move(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for fails in (False, True):
        state = tmp_path / str(fails)
        state.mkdir()
        (state / "mute.json").write_bytes(MUTED)
        (state / MARK).touch()
        if fails:
            (state / "conductor").write_text("in the way")
        move_earlier_files(state)
        found = MuteStore(state / mute_store.FILE, None).stored(PATIENCE_S)
        assert found is not None
        assert (found.muted, bool(found.problem)) == (True, fails)
    assert "mute.json cannot be moved" in caplog.text
