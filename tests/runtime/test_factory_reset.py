"""The factory reset: what it erases, that it resumes, and what it reports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from appliance import settings
from appliance.background_file import write_private
from appliance.dialog import startup_notices
from appliance.dialog.memory import Memory
from appliance.hear.aec import store
from appliance.mqtt import link, stale_topics
from appliance.page import access
from appliance.runtime import broker_certificate, enrolled_files, factory_reset, restore_files
from appliance.runtime.factory_reset import (
    DONE,
    NOTE,
    RESET,
    clear,
    complete_reset,
    request_reset,
    to_say,
)
from appliance.runtime.memory_files import path
from appliance.settings import Settings, adjusted, usable
from appliance.think import encoder_files, prompt_state_cache
from appliance.tools import timer_store
from tests import skips
from tests.card import card
from tests.dialog.test_memory_erase import CANARY, turn

pytestmark = pytest.mark.process
PATHS = {name for row in RESET for name in row.paths}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def owner_settings(tmp_path: Path) -> Settings:
    return settings.load(None, {"state_dir": str(tmp_path / "state")})


def lived_in(state: Path) -> None:
    """Fill `state` as by an owner: a canary word in every file with personal data."""
    memory = Memory(state / "memory" / "memory.db", 100)
    for number in range(50):
        memory.remember(turn(number, CANARY))
    memory.close()
    write_private(state / "memory/states/memory.db.state-1", CANARY * 1000)
    for name in PATHS - {"memory"}:
        place = state / name
        write_private(place if "." in place.name else place / "file", CANARY * 1000)
    (state / "models" / "gemma").mkdir(parents=True)
    (state / "models" / "gemma" / "weights.gguf").touch()


def test_every_path_in_the_reset_table_is_written_by_a_part_of_the_box(
    owner_settings: Settings,
) -> None:
    """The paths come from the parts' own constants, so that a renamed file is covered."""
    state = owner_settings.state_path()
    timers = timer_store.path(owner_settings).relative_to(state).parts[0]
    memory = path(owner_settings).relative_to(state).parts[0]
    mqtt_files = {
        str(file.relative_to(state))
        for file in (link.removed(owner_settings), stale_topics.path(owner_settings))
    }
    elsewhere = {".local/state/interlude", ".config/interlude"}
    known = {
        memory,
        enrolled_files.FOLDER,
        store.FILE,
        timers,
        access.FILE,
        restore_files.PLAN,
        restore_files.REPLACED,
        restore_files.BACK,
        restore_files.OUTCOME,
        adjusted.FILE,
        usable.BEFORE,
        startup_notices.TOLD,
        prompt_state_cache.FOLDER,
        encoder_files.FOLDER,
        *mqtt_files,
        broker_certificate.FILE,
        *elsewhere,
    }
    assert known == PATHS


def test_a_reset_erases_the_paths_of_the_table_and_nothing_else(tmp_path: Path) -> None:
    lived_in(tmp_path)
    request_reset(tmp_path)
    complete_reset(tmp_path)
    left = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert left == ["models/gemma/weights.gguf", NOTE]
    assert to_say(tmp_path) == "reset-done"
    assert to_say(tmp_path) == "", "reported once"
    assert not (tmp_path / NOTE).exists()


def test_without_a_request_a_start_erases_nothing(tmp_path: Path) -> None:
    lived_in(tmp_path)
    complete_reset(tmp_path)
    assert (tmp_path / "memory/memory.db").exists()
    assert to_say(tmp_path) == ""


def test_a_completed_reset_erases_nothing_more(tmp_path: Path) -> None:
    """The next owner's data is safe even if the box has not reported the reset yet."""
    write_private(tmp_path / NOTE, DONE.encode())
    lived_in(tmp_path)
    complete_reset(tmp_path)
    assert (tmp_path / "memory/memory.db").exists()


def test_no_personal_data_is_on_the_raw_card_after_a_reset(tmp_path: Path) -> None:
    with card(tmp_path) as sd:
        state = sd.at / "state"
        lived_in(state)
        assert sd.count(CANARY) > 1000
        request_reset(state)
        complete_reset(state)
        assert sd.count(CANARY) == 0


def test_a_full_card_can_be_reset(tmp_path: Path) -> None:
    with card(tmp_path) as sd:
        state = sd.at / "state"
        lived_in(state)
        (state / NOTE).parent.mkdir()  # as at the panel's first start
        sd.fill()
        request_reset(state)
        complete_reset(state)
        assert sd.count(CANARY) == 0
        assert to_say(state) == "reset-done"


def test_an_undeletable_file_is_reported_at_each_start_until_it_is_erased(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lived_in(tmp_path)
    undeletable = tmp_path / "enrolled"
    bind = ["mount", "--bind", "-o", "ro", str(undeletable), str(undeletable)]
    if subprocess.run(bind, check=False, capture_output=True).returncode != 0:
        pytest.skip(skips.MOUNTS)
    try:
        request_reset(tmp_path)
        complete_reset(tmp_path)
        assert to_say(tmp_path) == "reset-incomplete"
        assert to_say(tmp_path) == "reset-incomplete", "reported at each start"
        assert factory_reset.unfinished(tmp_path)
        files = {p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()}
        assert files == {Path(p) for p in ("enrolled/file", NOTE, "models/gemma/weights.gguf")}
        assert "enrolled/file is left: Read-only file system" in caplog.text
    finally:
        subprocess.run(["umount", str(undeletable)], check=True)
    complete_reset(tmp_path)
    assert to_say(tmp_path) == "reset-done"
    assert not undeletable.exists()


def test_a_reset_killed_at_any_point_is_completed_at_the_next_start(tmp_path: Path) -> None:
    """Kill the process after the nth call that changes the disk, for every second n."""
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from appliance.runtime import factory_reset\n"
        "left = int(sys.argv[2])\n"
        "def count(event, args):\n"
        "    global left\n"
        "    if event in ('os.remove', 'os.rmdir', 'os.rename'): left -= 1\n"
        "    if left == -1: left = 1000; os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(count); factory_reset.complete_reset(Path(sys.argv[1]))\n"
    )
    for calls in range(0, 40, 2):
        state = tmp_path / str(calls)
        lived_in(state)
        request_reset(state)
        child = subprocess.run(
            [sys.executable, "-c", code, str(state), str(calls)], cwd=ROOT, check=False
        )
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
        assert factory_reset.unfinished(state)
        complete_reset(state)
        assert to_say(state) == "reset-done"
        assert not any((state / name).exists() for name in PATHS)
    assert calls > 8, "the reset was killed midway"
    assert child.returncode == 0, "the last attempt completed"


def test_a_symlink_is_deleted_and_its_target_is_not(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").write_text("precious")
    (tmp_path / "state/listener").mkdir(parents=True)
    (tmp_path / "state/timers").symlink_to(tmp_path / "precious")
    (tmp_path / "state/listener/echo.npz").symlink_to(tmp_path / "precious/file")
    assert clear(tmp_path / "state") == []
    assert (tmp_path / "precious/file").read_text() == "precious"
    assert [file.name for file in (tmp_path / "state").rglob("*")] == ["listener"]


def test_a_fifo_is_deleted_without_blocking(tmp_path: Path) -> None:
    fifo = tmp_path / "listener/echo.npz"
    fifo.parent.mkdir()
    os.mkfifo(fifo)
    assert clear(tmp_path) == []
    assert not fifo.exists()
