"""Each part, as an attacker with its rights: it reads, writes and starts what its row names, and
reaches no other process."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from appliance.background_file import write_private
from appliance.dialog import control_socket, mute_store, startup_notices
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.dialog.memory_writer import OWED
from appliance.hear.aec import store
from appliance.models import download_news
from appliance.mqtt import link, stale_topics
from appliance.page import access
from appliance.page.report import WARNINGS
from appliance.panel import early, health, keyboard_socket, power_on_hold
from appliance.runtime import (
    broker_certificate,
    enrolled_files,
    factory_reset,
    handed_request,
    landlock,
    memory_files,
    network_status,
    places,
    restore_files,
)
from appliance.runtime.memory_reader import read_turns
from appliance.runtime.process_table import FILES, PROCESSES, Place
from appliance.settings import Settings, adjusted, load, owner_file, usable
from appliance.think import encoder_files, prompt_state_cache
from appliance.tools import timer_store
from appliance.update import request
from appliance.update.release import look_record
from appliance.update.release import store as releases
from appliance.update.system import target
from tests import skips
from tests.runtime.attacker import attack

pytestmark = pytest.mark.process
NAMES = [row.name for row in PROCESSES]
SECRET = "a-word-of-the-owner"  # noqa: S105  # in every file of the state


@pytest.fixture(autouse=True)
def here() -> None:
    if skips.lacks_landlock():
        pytest.skip(skips.LANDLOCK)


def turn(number: int, words: str) -> RememberedTurn:
    return RememberedTurn("2026-01-01", number, "", 1.0, words, True, "pocket")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder in which every part has left its files."""
    folder = tmp_path / "state"
    for name in (
        mute_store.FILE, adjusted.FILE, startup_notices.TOLD, factory_reset.NOTE, health.FILE,
        access.FILE, restore_files.BACK, store.FILE, enrolled_files.FILE,
        broker_certificate.FILE, "link/left-at-the-broker.json", "timers/timers.json",
        "memory/states/memory.db.state-1", "memory/uploads/memory.db.restore-checked",
        "openings/x.state", "audio-encoder/encoder-x.onnx", usable.BEFORE, restore_files.PLAN,
        restore_files.OUTCOME, restore_files.REPLACED,
    ):  # fmt: skip
        write_private(folder / name, SECRET.encode())
    memory = Memory(folder / "memory/memory.db", 10)
    memory.remember(turn(1, SECRET))
    memory.close()
    return folder


def folders_of(part: str, *, written: bool) -> set[str]:
    """The folders of the state that the part's row names."""
    files = FILES[part]
    named = files.writes if written else (*files.reads, *files.writes)
    return {place for place in named if place in places.STATE}


def below(file: str, folders: set[str]) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders)


READ_ALL = """
for file in sorted(path for path in map(Path, arguments)):
    found[str(file.relative_to(state))] = attempt(file.read_bytes)
"""
WRITE_ALL = """
own = next((Path(folder) for folder in arguments.pop(0).split(":") if folder), None)
for file in sorted(path for path in map(Path, arguments)):
    ways = {
        "change": lambda: file.open("r+b").write(b"x"),
        "cut": lambda: os.truncate(file, 0),
        "replace": lambda: ((own or file.parent) / "new").write_text("x") and
                           ((own or file.parent) / "new").rename(file),
        "create": lambda: file.with_name("new").touch(),
        "move": lambda: file.rename(file.with_name("moved")),
        "delete": file.unlink,
    }
    for way, act in ways.items():
        found[f"{way} {file.relative_to(state)}"] = attempt(act)
"""


@pytest.mark.parametrize("part", NAMES)
def test_a_part_reads_no_file_of_another_one(part: str, state: Path) -> None:
    files = [str(path) for path in state.rglob("*") if path.is_file()]
    found = attack(part, state, READ_ALL, *files)
    readable = folders_of(part, written=False)
    outcome = {restore_files.OUTCOME, restore_files.REPLACED} if part == "page" else set()
    for file, result in found.items():
        assert (result == "done") == (below(file, readable) or file in outcome), (file, result)


@pytest.mark.parametrize("part", NAMES)
def test_a_part_writes_no_file_of_another_one(part: str, state: Path) -> None:
    """Neither the mute, the memory, the list of browsers, nor what the next start reads."""
    writable = folders_of(part, written=True)
    files = [str(path) for path in state.rglob("*") if path.is_file()]
    before = {file: Path(file).read_bytes() for file in files}
    own = ":".join(str(state / folder) for folder in sorted(writable))
    found = attack(part, state, WRITE_ALL, own, *files)
    for way, result in found.items():
        if not below(way.partition(" ")[2], writable):
            assert result in ("EACCES", "EXDEV"), (way, result)
    for file, data in before.items():
        if not below(str(Path(file).relative_to(state)), writable):
            assert Path(file).read_bytes() == data
    left = {str(path.relative_to(state)) for path in state.rglob("*") if path.is_file()}
    new = left - {str(Path(file).relative_to(state)) for file in files}
    assert all(below(file, writable) for file in new)


def test_the_attempts_succeed_where_the_row_allows_them(state: Path) -> None:
    """So that the two tests above can fail."""
    own = str(state / "page")
    found = attack("page", state, WRITE_ALL, own, str(state / access.FILE))
    assert set(found.values()) - {"ENOENT"} == {"done"}
    assert attack("page", state, READ_ALL, str(state / "memory/memory.db")) == {
        "memory/memory.db": "done"
    }


PLANT = """
folder = state / ".config/interlude"
found["folder"] = attempt(lambda: folder.mkdir(parents=True))
found["file"] = attempt(lambda: (folder / "settings.yaml").write_text("page: {unmute: true}"))
found["before"] = attempt(lambda: (state / "settings-before.yaml").write_text("mode: open"))
found["sound"] = attempt(lambda: (Path.home() / ".asoundrc").write_text("x"))
"""


@pytest.mark.parametrize("part", NAMES)
def test_no_part_can_plant_settings_even_if_a_start_looked_for_them(
    part: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the lookup of earlier versions: the service's own folder came first, before root's."""
    found = attack(part, state, PLANT)
    assert set(found.values()) <= {"EACCES", "ENOENT"}
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(state / ".config"))
    assert owner_file() != state / ".config/interlude/settings.yaml"
    assert (state / usable.BEFORE).read_text() == SECRET
    (state / ".config/interlude").mkdir(parents=True)  # with a part's user and no domain
    (state / ".config/interlude/settings.yaml").write_text("page: {unmute: true}")
    assert owner_file() == state / ".config/interlude/settings.yaml"


PROGRAMS = """
found["true"] = attempt(lambda: subprocess.run(["/bin/true"]))
found["sh"] = attempt(lambda: subprocess.run(["/bin/sh", "-c", "true"]))
found["python"] = attempt(lambda: subprocess.run([sys.executable, "-c", ""]))
"""


@pytest.mark.parametrize("part", NAMES)
def test_a_part_starts_only_the_programs_of_its_row(part: str, state: Path) -> None:
    found = attack(part, state, PROGRAMS)
    starts = FILES[part].starts
    every = "done" if "voice programs" in starts else "EACCES"
    assert found == {"true": every, "sh": every, "python": "done" if starts else "EACCES"}


CONNECT = """
def connect():
    with socket.socket() as wire:
        wire.settimeout(5)
        wire.connect(("127.0.0.1", int(arguments[0])))
found["port"] = attempt(connect)
"""
REACH = """
supervisor = int(arguments[1])
found["signal"] = attempt(lambda: os.kill(supervisor, signal.SIGKILL))
found["probe"] = attempt(lambda: os.kill(supervisor, 0))
found["memory"] = attempt(lambda: open(f"/proc/{supervisor}/mem", "rb"))
found["program"] = attempt(lambda: os.readlink(f"/proc/{supervisor}/exe"))
"""


@pytest.mark.parametrize("part", NAMES)
def test_a_part_reaches_neither_the_supervisor_nor_another_port(part: str, state: Path) -> None:
    """`port`: one that the settings do not name. The supervisor: a process of the same user."""
    if landlock.abi() < 6:
        pytest.skip(skips.LANDLOCK_SCOPES)
    asleep = subprocess.Popen(["sleep", "60"])
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            found = attack(part, state, CONNECT + REACH, str(port), str(asleep.pid))
        alive = asleep.poll() is None
    finally:
        asleep.kill()
        asleep.wait()
    assert found.pop("port") in ("EACCES", "EAFNOSUPPORT")
    assert set(found.values()) <= {"EPERM", "EACCES"}, found
    assert alive


def test_the_link_reaches_the_port_of_its_broker(state: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        broker = {"broker": "127.0.0.1", "port": port}
        assert attack("link", state, CONNECT, str(port), link=broker) == {"port": "done"}


@pytest.mark.parametrize(("part", "listed"), [("panel", "done"), ("page", "EACCES")])
def test_the_panel_finds_its_pins_by_their_names_and_reads_no_other_device(
    part: str, listed: str, state: Path
) -> None:
    code = """
found["list"] = attempt(lambda: os.listdir("/dev"))
found["read"] = attempt(lambda: Path("/dev/tty").open("rb"))
"""
    found = attack(part, state, code)
    assert found["list"] == listed
    assert found["read"] == "EACCES"


# ── the table ──────────────────────────────────────────────────────────────────────────────────
def test_every_row_of_the_process_table_has_columns_of_files() -> None:
    assert FILES.keys() == set(NAMES)


def test_every_place_has_a_path_and_is_used_by_a_part() -> None:
    named = {place for files in FILES.values() for place in (*files.reads, *files.writes)}
    assert named == set(get_args(Place))
    settings = load(None, {"state_dir": "/nonexistent"})
    for place in get_args(Place):
        assert all(path.is_absolute() for path in places.paths(place, settings)), place


def test_no_part_may_write_another_ones_program_or_what_the_next_start_reads() -> None:
    """The list of who may write to folders of several parts: each has a reason."""
    writers: dict[str, set[str]] = {}
    for part, files in FILES.items():
        for place in files.writes:
            writers.setdefault(place, set()).add(part)
    shared = {place: parts for place, parts in writers.items() if len(parts) > 1}
    assert shared == {
        "panel": {"panel", "conductor"},  # the note of a reset, which the conductor announces
        "enrolled": {"listener", "page"},  # the page deletes it
        "broker": {"link", "page"},  # the page accepts another certificate
        "requests": {"link", "page"},  # to units of root, which check each
        "incoming": {"link", "page"},
        "owner's settings": {"link", "page"},  # nothing on a box, where they are root's
    }
    assert not {"models", "voices", "releases"} & writers.keys()


def test_the_paths_of_the_places_are_those_that_the_parts_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "run"))
    settings = load(None, {"state_dir": str(tmp_path / "state")})
    state, run = tmp_path / "state", tmp_path / "run"
    memory = memory_files.path(settings)
    used: dict[Place, list[Path]] = {
        "audio-encoder": [state / encoder_files.FOLDER],
        "broker": [state / broker_certificate.FILE],
        "conductor": [
            mute_store.path(settings), adjusted.path(settings), state / startup_notices.TOLD,
            run / OWED, run / mute_store.FILE, *control_socket.socket_paths(settings)[:1],
        ],
        "enrolled": [state / enrolled_files.FILE],
        "link": [link.removed(settings), stale_topics.path(settings)],
        "listener": [state / store.FILE],
        "memory": [memory],
        "memory/states": [memory_files.snapshots(memory)],
        "memory/uploads": [restore_files.archive(state, restore_files.UPLOAD)],
        "openings": [state / prompt_state_cache.FOLDER],
        "page": [access.path(settings), state / restore_files.BACK],
        "panel": [
            state / factory_reset.NOTE, run / factory_reset.NOTE, keyboard_socket.place(settings),
            health.place(settings) / health.FILE,
        ],
        "timers": [timer_store.path(settings)],
        "incoming": [request.INCOMING],
        "models": [settings.models_path()],
        "notes of root": [
            handed_request.CHANGED, network_status.FOLDER, look_record.FOLDER, releases.TRIAL,
            download_news.FOLDER, early.FOLDER, target.START,
        ],
        "releases": [releases.ROOT],
        "requests": [handed_request.WANTED],
        "restore outcome": [state / restore_files.OUTCOME],
        "voices": [settings.programs_path()],
        "warnings": [WARNINGS],
        "wishes": [power_on_hold.REQUEST_FOLDER],
    }  # fmt: skip
    for place, files in used.items():
        granted = list(places.paths(place, settings))
        for file in files:
            assert any(file.is_relative_to(path) for path in granted), (place, file)


def test_a_box_grants_no_settings_folder_and_a_checkout_that_of_its_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load(None, {"state_dir": str(tmp_path)})
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/interlude")
    assert list(places.paths("owner's settings", settings)) == []
    monkeypatch.delenv("STATE_DIRECTORY")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = tmp_path / "config/interlude"
    assert list(places.paths("owner's settings", settings)) == [own]
    places.domain("page", settings)
    assert own.is_dir(), "a first change on the page may not make it"


def test_folders_that_cannot_be_made_keep_no_part_from_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for name in ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "RUNTIME_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "file"))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    for part in NAMES:
        places.domain(part, load(None))


def test_the_folder_of_a_named_secret_is_granted_unless_it_holds_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/run/credentials/interlude.service")
    state = tmp_path / "box/state"

    def granted(file: str) -> set[Path]:
        settings: Settings = load(
            None, {"state_dir": str(state), "link": {"broker": "x", "password_file": file}}
        )
        return set(places.paths("broker secrets", settings))

    credential = Path("/run/credentials/interlude.service/mqtt-password")
    assert granted("/etc/own/password") == {
        Path("/etc/own/password"), Path("/etc/own"), credential,
    }  # fmt: skip
    assert granted(str(tmp_path / "password")) == {tmp_path / "password", credential}
    assert granted(str(credential)) == {credential}, "not the other credentials"


# ── the memory, read without the right to write ────────────────────────────────────────────────
READ_MEMORY = """
from appliance.runtime.memory_reader import read_turns
found["turns"] = " ".join(turn.heard for turn in read_turns(state / "memory/memory.db", 10)[0])
"""


@pytest.mark.parametrize("in_use", [True, False])
def test_the_page_reads_the_memory_that_it_may_not_write(state: Path, in_use: bool) -> None:
    memory = Memory(state / "memory/memory.db", 10)
    memory.remember(turn(2, "newest"))
    if not in_use:
        memory.close()
    found = attack("page", state, "from appliance.runtime import memory_reader\n" + READ_MEMORY)
    assert found["turns"].split()[0] == "newest"
    assert len(found["turns"].split()) == 2
    if in_use:
        memory.remember(turn(3, "later"))
        memory.close()
    assert read_turns(state / "memory/memory.db", 1)[0][0].heard in ("later", "newest")
