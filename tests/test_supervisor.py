"""The supervisor: parts that end, hang or never come up; orderly stop; systemd's notifications."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance import processes, settings, status
from appliance.errors import SettingsError
from appliance.ipc.channel import Channel
from appliance.messages import Message, PartChanged, Seen
from appliance.supervisor import RESTARTS_A_MINUTE, Supervisor

ROOT = Path(__file__).parents[1]
DOUBLE = """
import select, sys, time
MODE = {mode!r}

def main(work):
    if MODE == "dies at once":
        sys.exit(3)
    poll = select.poll()
    poll.register(work.stop_fd, select.POLLIN)
    work.ready()
    if MODE == "wants to begin anew":
        from appliance.messages import Restart
        work.channels["supervisor"].send(Restart())
    if MODE == "says that it speaks":
        from appliance.messages import StateChanged
        work.channels["supervisor"].send(StateChanged("speaking", 1, 0))
    while not work.stopping or MODE == "ignores stop":
        poll.poll(20)
        work.beat()
    if MODE.startswith("notes its end in "):
        time.sleep(0.0 if work.name == "first" else 0.2)
        with open(MODE[17:], "a") as notes:
            print(work.name, file=notes)
"""
Make = Callable[..., Supervisor]


def row(name: str, silent_s: float = 5.0, needed: bool = True) -> processes.Process:
    """An ordinary process that wants nothing of the system."""
    return processes.Process(
        name, name, (), "normal", 0, 0, False, silent_s, needed, cpu_share=1.0, memory_mib=500
    )


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Make]:
    """Make a supervisor over small real processes: `parts({"name": "mode"})`."""
    made: list[Supervisor] = []

    def make(modes: dict[str, str], silent_s: float = 5.0, needed: bool = True) -> Supervisor:
        package = tmp_path / "doubles"
        package.mkdir()
        (package / "__init__.py").touch()
        for name, mode in modes.items():
            (package / f"{name}.py").write_text(DOUBLE.format(mode=mode))
        supervisor = Supervisor(
            settings.load_defaults(),
            rows=tuple(row(name, silent_s, needed) for name in modes),
            package="doubles",
            environment={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        )
        made.append(supervisor)
        return supervisor

    yield make
    for supervisor in made:
        supervisor.stop_all()
        supervisor.close()


def until(supervisor: Supervisor, true: Callable[[], object], seconds: float = 30.0) -> None:
    """Let the supervisor work until `true()`."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come to pass"
        supervisor.step(0.02)


def mail(supervisor: Supervisor) -> list[Message]:
    """What the conductor would be told."""
    every = Channel(supervisor._ends["supervisor"][1].dup()).receive_all()
    return [message for message in every if not isinstance(message, Seen)]


def pid(supervisor: Supervisor, name: str) -> int:
    child = supervisor.parts[name].child
    assert child is not None
    return child.pid


def test_parts_come_up_in_the_order_of_the_table(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    assert pid(supervisor, "first") < pid(supervisor, "second")
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    assert supervisor.ready
    assert supervisor.healthy
    assert {m.part for m in mail(supervisor) if isinstance(m, PartChanged)} == {"first", "second"}


def test_a_killed_part_is_started_again_and_the_other_is_left_alone(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    mail(supervisor)
    victim, other = pid(supervisor, "first"), pid(supervisor, "second")
    os.kill(victim, signal.SIGKILL)
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip
    assert pid(supervisor, "second") == other
    assert mail(supervisor) == [
        PartChanged("first", "down", "was ended by SIGKILL"),
        PartChanged("first", "up"),
    ]


def test_a_frozen_part_is_killed_and_started_again(parts: Make) -> None:
    supervisor = parts({"first": "works"}, silent_s=0.5)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    victim = pid(supervisor, "first")
    os.kill(victim, signal.SIGSTOP)
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip
    downs = [m for m in mail(supervisor) if isinstance(m, PartChanged) and m.state == "down"]
    assert "did not beat" in downs[0].problem


def test_a_part_that_dies_again_and_again_is_given_up_and_said_so(parts: Make) -> None:
    supervisor = parts({"first": "dies at once", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].failed)
    assert len(supervisor.parts["first"].starts) == RESTARTS_A_MINUTE + 1
    assert PartChanged("first", "failed", "exited with code 3") in mail(supervisor)
    assert supervisor.parts["second"].child is not None
    assert not supervisor.healthy


def test_the_box_stays_healthy_without_a_part_it_can_do_without(parts: Make) -> None:
    supervisor = parts({"first": "dies at once"}, needed=False)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].failed)
    assert supervisor.healthy


def test_restarts_are_spaced_further_and_further_apart(parts: Make) -> None:
    supervisor = parts({"first": "dies at once"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].failed)
    starts = supervisor.parts["first"].starts
    waits = [after - before for before, after in itertools.pairwise(starts)]
    assert waits[-1] > waits[1] > 0.2


def test_stop_ends_every_part_even_one_that_is_frozen_or_will_not(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "ignores stop"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    pids = [pid(supervisor, name) for name in supervisor.parts]
    os.kill(pids[0], signal.SIGSTOP)
    supervisor.stop_all()
    for ended in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(ended, 0)


def test_the_first_part_ends_when_the_others_have(parts: Make, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    supervisor = parts(dict.fromkeys(("first", "second", "third"), f"notes its end in {notes}"))
    supervisor.start()
    until(supervisor, lambda: supervisor.ready)
    supervisor.stop_all()
    ended = notes.read_text().split()
    assert sorted(ended[:2]) == ["second", "third"]
    assert ended[2:] == ["first"]


def test_told_to_begin_anew_it_stops_in_order_and_says_so(parts: Make) -> None:
    supervisor = parts({"conductor": "wants to begin anew", "capture": "lives"})
    supervisor.run()
    assert supervisor.restarting
    assert all(part.child is None and not part.failed for part in supervisor.parts.values())


def test_told_nothing_it_does_not_begin_anew(parts: Make) -> None:
    supervisor = parts({"conductor": "lives"})
    supervisor.start()
    until(supervisor, lambda: supervisor.ready)
    supervisor.request_stop()
    assert not supervisor.restarting


def test_systemd_is_told_when_all_is_ready_and_fed_only_while_all_hearts_beat(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notify"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(str(path))
    listening.setblocking(False)
    monkeypatch.setenv("NOTIFY_SOCKET", str(path))

    def notes() -> list[str]:
        found = []
        while True:
            try:
                found.append(listening.recv(1000).decode())
            except BlockingIOError:
                return found

    supervisor = parts({"first": "works"}, silent_s=1.0)
    supervisor.start()
    until(supervisor, lambda: supervisor.ready)
    told = notes()
    assert any(note.startswith("READY=1") for note in told)
    assert "WATCHDOG=1" in told
    os.kill(pid(supervisor, "first"), signal.SIGSTOP)
    time.sleep(1.1)  # frozen beyond its limit, and not yet looked after
    supervisor._notify()
    assert notes() == []


def test_how_the_box_stands_is_told_in_a_file(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    supervisor = parts({"conductor": "says that it speaks", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: bool((told := status.read(tmp_path)) and told.well and told.talking))
    supervisor.parts["second"].failed = True
    supervisor.step()
    told = status.read(tmp_path)
    assert told is not None
    assert told.failed == ("second",)
    assert told.pid == os.getpid()


def test_the_table_names_only_modules_that_exist_and_rings_that_have_one_writer() -> None:
    names = {part.name for part in processes.PROCESSES}
    writers = [ring.writer for ring in processes.RINGS]
    assert set(writers) <= names
    assert {reader for ring in processes.RINGS for reader in ring.readers} <= names
    assert len({ring.name for ring in processes.RINGS}) == len(processes.RINGS)
    assert all(ring.waits_for in (None, *ring.readers) for ring in processes.RINGS)


def test_an_owner_may_move_a_process_to_other_cores() -> None:
    changed = settings.load(None, overrides={"processes": {"thinker": {"cores": [1, 2, 3]}}})
    rows = {part.name: part for part in processes.table(changed)}
    assert rows["thinker"].cores == (1, 2, 3)
    assert rows["capture"] == processes.row("capture")


def test_a_change_to_a_process_that_does_not_exist_is_refused() -> None:
    changed = settings.load(None, overrides={"processes": {"thinkr": {"nice": 1}}})
    with pytest.raises(SettingsError, match="no such process"):
        processes.table(changed)
