"""The supervisor: parts that end, hang or never come up; orderly stop; systemd's notifications."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance import settings
from appliance.cli.rows import rows_to_run
from appliance.errors import SettingsError
from appliance.messages.registry import Message, ObservedMessage
from appliance.messages.supervision import PartChanged
from appliance.runtime import process_table, status
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.supervision import supervised_part as parts_of_the_box
from appliance.runtime.supervision.backoff import FAILED_AT
from appliance.runtime.supervision.failure_rate import ENDS
from appliance.runtime.supervision.startup import BEGIN_S, READ_S
from appliance.runtime.supervision.starvation import SHEDS
from appliance.runtime.supervisor import Supervisor
from tests import skips
from tests.runtime.supervision.box import load_of

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
DOUBLE = """
import os, select, signal, sys, time
from pathlib import Path
MODE = {mode!r}

def main(work):
    if MODE == "dies at once":
        sys.exit(3)
    if MODE.startswith("works once there is "):
        if not Path(MODE[20:]).exists():
            sys.exit(3)
    if MODE == "never comes up":
        time.sleep(600)
    if MODE.startswith("shares core "):  # with whatever else runs there, which goes first
        os.sched_setaffinity(0, [int(MODE[12:])])
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if MODE == "takes memory":
        taken = bytearray(900 << 20)
    if MODE == "is slow to come up":
        time.sleep(2.0)
    if MODE == "has a process of its own":
        import subprocess
        Path(__file__).with_suffix(".pid").write_text(str(subprocess.Popen(["sleep", "600"]).pid))
    if MODE == "is held after its death":
        held(work)
    poll = select.poll()
    poll.register(work.stop_fd, select.POLLIN)
    if MODE.startswith("reads until there is "):
        work.report_loading()
        while not Path(MODE[21:]).exists() and not work.stopping:
            poll.poll(20)
            work.beat()
    work.report_ready()
    if MODE == "wants to begin anew":
        from appliance.messages.commands import Restart
        work.channels["supervisor"].send(Restart())
    if MODE == "says that it speaks":
        from appliance.messages.commands import StateChanged
        work.channels["supervisor"].send(StateChanged("speaking", 1, 0))
    while MODE == "spins":
        pass
    while not work.stopping or MODE == "ignores stop":
        poll.poll(20)
        needs_s = time.thread_time() + (0.02 if MODE.startswith("shares core ") else 0.0)
        while time.thread_time() < needs_s:
            pass
        work.beat()
    if MODE.startswith("notes its end in "):
        time.sleep(0.0 if work.name == "first" else 0.2)
        with open(MODE[17:], "a") as notes:
            print(work.name, file=notes)

def held(work):
    # A tracer that never looks keeps this process unreaped, as a driver keeps one in D state.
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # PR_SET_PTRACER, PR_SET_PTRACER_ANY
    us, (says, told) = os.getpid(), os.pipe()
    if os.fork() == 0:
        os.setsid()
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        seized = libc.ptrace(0x4206, us, None, None)  # PTRACE_SEIZE
        os.write(told, b"n" if seized else b"y")
        end = time.monotonic() + 60.0
        while not Path(__file__).with_suffix(".free").exists() and time.monotonic() < end:
            time.sleep(0.02)
        os._exit(0)
    Path(__file__).with_suffix(".held").write_bytes(os.read(says, 1))
"""
Make = Callable[..., Supervisor]


def row(
    name: str, silent_s: float = 5.0, needed: bool = True, start_s: float = 15.0
) -> process_table.Process:
    """An ordinary process that wants nothing of the system."""
    return process_table.Process(
        name, name, (), "normal", 0, 0, False, start_s, silent_s, needed, 1.0, memory_mib=500
    )


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Make]:
    """Make a supervisor over small real processes: `parts({"name": "mode"})`."""
    made: list[Supervisor] = []

    def make(
        modes: dict[str, str], silent_s: float = 5.0, needed: bool = True, start_s: float = 15.0
    ) -> Supervisor:
        package = tmp_path / "doubles"
        package.mkdir()
        (package / "__init__.py").touch()
        for name, mode in modes.items():
            (package / f"{name}.py").write_text(DOUBLE.format(mode=mode))
        supervisor = Supervisor(
            settings.load_defaults(),
            rows=tuple(row(name, silent_s, needed, start_s) for name in modes),
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
        supervisor.run_once(0.02)


def mail(supervisor: Supervisor) -> list[Message]:
    """What the conductor would be told."""
    every = Channel(supervisor.joints.ends["supervisor"][1].dup()).receive_all()
    return [message for message in every if not isinstance(message, ObservedMessage)]


def pid(supervisor: Supervisor, name: str) -> int:
    child = supervisor.parts[name].child
    assert child is not None
    return child.pid


def test_parts_come_up_in_the_order_of_the_table(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    assert pid(supervisor, "first") < pid(supervisor, "second")
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    assert supervisor.is_ready
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


def test_a_part_that_dies_again_and_again_has_failed_is_said_so_once_and_slowed(
    parts: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """Slowed: by pauses that grow and are kept. How long its starts take is the machine's."""
    supervisor = parts({"first": "dies at once", "second": "works"})
    supervisor.start()
    part = supervisor.parts["first"]
    for starts in range(2, FAILED_AT + 2):
        until(supervisor, lambda starts=starts: part.starts == starts)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        assert time.monotonic() >= part.start_s  # not before its pause was over
    pauses = re.findall(r"first exited with code 3; starting it again( in [\d.]+ s)?", caplog.text)
    assert pauses[:FAILED_AT] == ["", " in 0.25 s", " in 0.5 s", " in 1 s", " in 2 s"]
    assert mail(supervisor).count(PartChanged("first", "failed", "exited with code 3")) == 1
    assert part.failed
    assert supervisor.parts["second"].child is not None
    assert not supervisor.healthy


def test_a_part_that_has_failed_is_tried_again_and_failed_no_more_once_it_is_up(
    parts: Make, tmp_path: Path
) -> None:
    cure = tmp_path / "cure"
    supervisor = parts({"first": f"works once there is {cure}"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].failed)
    cure.touch()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    assert not supervisor.parts["first"].failed
    states = [m.state for m in mail(supervisor) if isinstance(m, PartChanged)]
    assert states[-2:] == ["failed", "up"]
    assert supervisor.healthy


def test_a_conductor_that_comes_up_is_told_what_has_failed(parts: Make) -> None:
    supervisor = parts({"conductor": "works", "second": "dies at once"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["second"].failed)
    mail(supervisor)
    victim = pid(supervisor, "conductor")
    os.kill(victim, signal.SIGKILL)
    until(supervisor, lambda: supervisor.parts["conductor"].announced
          and pid(supervisor, "conductor") != victim)  # fmt: skip
    assert mail(supervisor)[-2:] == [
        PartChanged("conductor", "up"),
        PartChanged("second", "failed", "exited with code 3"),
    ]


def test_the_box_stays_healthy_without_a_part_it_can_do_without(parts: Make) -> None:
    supervisor = parts({"first": "dies at once"}, needed=False)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].failed)
    assert supervisor.healthy


@pytest.mark.parametrize("number", [40, signal.SIGRTMAX - 1, signal.SIGABRT])
def test_whatever_signal_ends_a_part_it_is_told_and_started_again(parts: Make, number: int) -> None:
    supervisor = parts({"first": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    mail(supervisor)
    victim = pid(supervisor, "first")
    os.kill(victim, number)
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip
    name = "SIGABRT" if number == signal.SIGABRT else f"signal {int(number)}"
    assert mail(supervisor)[0] == PartChanged("first", "down", f"was ended by {name}")


def test_a_part_for_which_there_is_no_process_is_tried_again_and_the_other_lives_on(
    parts: Make,
) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    mail(supervisor)
    other = pid(supervisor, "second")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:  # not a descriptor is left, as not a process is left at TasksMax=
        os.kill(pid(supervisor, "first"), signal.SIGKILL)
        until(supervisor, lambda: supervisor.parts["first"].starts >= 4)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    until(supervisor, lambda: supervisor.parts["first"].announced)
    assert pid(supervisor, "second") == other
    problems = [m.problem for m in mail(supervisor) if isinstance(m, PartChanged)]
    assert any("could not be looked after" in problem for problem in problems)


def test_a_part_may_take_its_time_to_come_up(parts: Make) -> None:
    supervisor = parts({"first": "is slow to come up"}, silent_s=0.5, start_s=10.0)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    assert supervisor.parts["first"].starts == 1  # silent for four times as long as later on


def test_parts_that_never_come_up_are_started_again(parts: Make) -> None:
    supervisor = parts(dict.fromkeys(("first", "second"), "never comes up"), start_s=1.0)
    supervisor.start()
    until(supervisor, lambda: all(part.starts == 2 for part in supervisor.parts.values()), 60.0)


def test_a_part_that_runs_and_never_beats_is_killed_and_started_again(parts: Make) -> None:
    supervisor = parts({"first": "spins"}, silent_s=0.5)
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    victim = pid(supervisor, "first")
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip


def test_a_part_without_a_processor_is_not_restarted_and_the_box_sheds_what_it_can(
    parts: Make, caplog: pytest.LogCaptureFixture
) -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip(skips.WAITS)
    core = min(os.sched_getaffinity(0))
    supervisor = parts({"first": f"shares core {core}", "second": "works"}, silent_s=1.0)
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    part, ages = supervisor.parts["first"], [0.0]

    def looks() -> bool:
        ages.append(part.heart.age_s(time.monotonic_ns()))
        return max(ages) > 2.5  # two and a half times as long as is allowed

    with load_of(9, core):
        until(supervisor, looks, 60.0)
        assert supervisor.healthy
        assert supervisor.floor().strain > 0
        assert [other.starts for other in supervisor.parts.values()] == [1, 1]
    assert caplog.text.count("the processor does not suffice: the box does without words\n") == 1
    until(supervisor, lambda: part.heart.age_s(time.monotonic_ns()) < 0.1)
    supervisor.run_once(0.02)
    assert part.starts == 1
    assert supervisor.healthy


def test_a_part_that_waits_for_its_turn_to_start_costs_no_processor(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "never comes up"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    now = time.monotonic()
    supervisor._strain.level = len(SHEDS)
    supervisor._strain._changed_s = supervisor._spawned_s = now
    os.kill(pid(supervisor, "first"), signal.SIGKILL)
    until(supervisor, lambda: supervisor.parts["first"].child is None)
    steps = 0
    while time.monotonic() - now < 2.0:  # it may start 5 s after the other
        supervisor.run_once()
        steps += 1
    assert supervisor.parts["first"].child is None
    assert steps < 40  # a look each quarter of a second, and each beat of the other


def test_who_takes_far_more_memory_than_its_budget_gets_none_and_the_others_live_on(
    parts: Make,
) -> None:
    supervisor = parts({"first": "takes memory", "thinker": "takes memory", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].starts == 2)
    until(supervisor, lambda: supervisor.parts["thinker"].announced)
    until(supervisor, lambda: supervisor.parts["second"].announced)
    assert PartChanged("first", "down", "exited with code 1") in mail(supervisor)
    assert supervisor.parts["thinker"].starts == supervisor.parts["second"].starts == 1


def test_the_thinker_is_the_first_that_the_out_of_memory_killer_takes(parts: Make) -> None:
    supervisor = parts(dict.fromkeys(("conductor", "capture", "words", "thinker"), "works"))
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)

    def score(process: int | str) -> int:
        return int(Path(f"/proc/{process}/oom_score_adj").read_text())

    scores = {name: score(pid(supervisor, name)) for name in supervisor.parts}
    assert scores["thinker"] == 1000 > scores["words"] > scores["conductor"]
    assert scores["conductor"] == scores["capture"] == score("self")


def test_what_a_part_has_started_ends_with_it(parts: Make, tmp_path: Path) -> None:
    supervisor = parts({"first": "has a process of its own"})
    supervisor.start()
    until(supervisor, lambda: supervisor.parts["first"].announced)
    grandchild = int((tmp_path / "doubles/first.pid").read_text())
    os.kill(pid(supervisor, "first"), signal.SIGKILL)
    until(supervisor, lambda: not Path(f"/proc/{grandchild}").exists()
          or "\nState:\tZ" in Path(f"/proc/{grandchild}/status").read_text())  # fmt: skip


def test_a_part_that_cannot_be_ended_keeps_nobody_waiting_and_gets_no_twin(
    parts: Make, tmp_path: Path
) -> None:
    supervisor = parts({"first": "is held after its death", "second": "works"}, silent_s=0.5)
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    if (tmp_path / "doubles/first.held").read_bytes() != b"y":
        pytest.skip(skips.TRACING)
    victim = pid(supervisor, "first")
    os.kill(victim, signal.SIGSTOP)
    until(supervisor, lambda: supervisor.parts["first"].ending)
    began, steps = time.monotonic(), 0
    while time.monotonic() - began < parts_of_the_box.STUCK_S + 1.0:
        supervisor.run_once(0.02)
        steps += 1
    assert steps > 100
    assert pid(supervisor, "first") == victim
    assert supervisor.parts["first"].failed
    assert supervisor.parts["second"].announced
    assert not supervisor.healthy
    (tmp_path / "doubles/first.free").touch()
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip


def test_a_stop_does_not_wait_for_a_part_that_cannot_be_ended(parts: Make, tmp_path: Path) -> None:
    supervisor = parts({"first": "works", "second": "is held after its death"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    if (tmp_path / "doubles/second.held").read_bytes() != b"y":
        pytest.skip(skips.TRACING)
    began = time.monotonic()
    supervisor.stop_all()
    assert time.monotonic() - began < 8.0
    (tmp_path / "doubles/second.free").touch()


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
    until(supervisor, lambda: supervisor.is_ready)
    supervisor.stop_all()
    ended = notes.read_text().split()
    assert sorted(ended[:2]) == ["second", "third"]
    assert ended[2:] == ["first"]


def test_told_to_begin_anew_it_stops_in_order_and_says_so(parts: Make) -> None:
    supervisor = parts({"conductor": "wants to begin anew", "capture": "lives"})
    supervisor.run()
    assert supervisor.restarting
    assert all(part.child is None and not part.failed for part in supervisor.parts.values())


@pytest.mark.parametrize(("managed", "needed"), [(True, True), (True, False), (False, True)])
def test_a_box_of_systemds_is_given_up_for_a_needed_part_that_keeps_ending_and_for_no_other(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, managed: bool, needed: bool
) -> None:
    told: list[bytes] = []
    if managed:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listening.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        reading = threading.Thread(
            target=lambda: told.extend(iter(lambda: listening.recv(99), b""))
        )
        reading.start()
    supervisor = parts({"conductor": "lives", "capture": "dies at once"}, needed=needed)
    supervisor.start()
    capture = supervisor.parts["capture"]
    until(supervisor, lambda: supervisor.given_up or capture.starts > ENDS, 60.0)
    assert supervisor.given_up == supervisor.stopping == (managed and needed)
    supervisor.stop_all()
    if managed:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", str(tmp_path / "notify"))
        reading.join()
        assert (b"STOPPING=1" in told) == (not needed)  # else its exit code says it


def test_told_nothing_it_does_not_begin_anew(parts: Make) -> None:
    supervisor = parts({"conductor": "lives"})
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)
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
    until(supervisor, lambda: supervisor.is_ready)
    told = notes()
    assert any(note.startswith("READY=1") for note in told)
    assert "WATCHDOG=1" in told
    os.kill(pid(supervisor, "first"), signal.SIGSTOP)
    time.sleep(1.1)  # frozen beyond its limit, and not yet looked after
    supervisor._report_status(time.monotonic())
    assert notes() == []


def test_while_the_model_reads_the_start_goes_on_and_systemd_gives_it_time(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(str(tmp_path / "notify"))
    listening.setblocking(False)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))

    def told() -> set[str]:
        found = set()
        with contextlib.suppress(BlockingIOError):
            while True:
                found.add(listening.recv(1000).decode())
        return found

    read = tmp_path / "read"
    supervisor = parts({"first": "works", "second": f"reads until there is {read}"}, needed=False)
    supervisor.start()
    until(supervisor, lambda: supervisor.is_loading)
    supervisor._report_status(time.monotonic() + 10)
    assert "EXTEND_TIMEOUT_USEC=30000000" in told()
    supervisor._started_s -= BEGIN_S + 1  # what does not read would be waited for no longer
    assert (supervisor.is_started, supervisor.is_ready) == (False, False)
    assert (found := status.read_status(tmp_path)) is not None
    assert found.reading
    read.touch()
    until(supervisor, lambda: supervisor.is_ready)
    assert (supervisor.is_started, supervisor.is_loading) == (True, False)
    supervisor._report_status(time.monotonic() + 20)
    assert any(note.startswith("READY=1") for note in told())
    supervisor._report_status(time.monotonic() + 30)
    assert not any(note.startswith("EXTEND") for note in told())


def test_a_model_that_reads_for_ever_does_not_keep_the_start_for_ever(
    parts: Make, tmp_path: Path
) -> None:
    supervisor = parts(
        {"first": "works", "second": f"reads until there is {tmp_path / 'never'}"},
        needed=False,
    )
    supervisor.start()
    until(supervisor, lambda: supervisor.is_loading)
    supervisor._started_s -= READ_S + 1
    assert (supervisor.is_started, supervisor.is_loading) == (True, False)


def test_how_the_box_stands_is_told_in_a_file(
    parts: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    supervisor = parts({"conductor": "says that it speaks", "second": "works"})
    supervisor.start()
    until(
        supervisor,
        lambda: bool((told := status.read_status(tmp_path)) and told.well and told.talking),
    )
    supervisor.parts["second"].failed = True
    supervisor.run_once()
    told = status.read_status(tmp_path)
    assert told is not None
    assert told.failed == ("second",)
    assert told.pid == os.getpid()


def test_the_table_names_only_modules_that_exist_and_rings_that_have_one_writer() -> None:
    names = {part.name for part in process_table.PROCESSES}
    writers = [ring.writer for ring in process_table.RINGS]
    assert set(writers) <= names
    assert {reader for ring in process_table.RINGS for reader in ring.readers} <= names
    assert len({ring.name for ring in process_table.RINGS}) == len(process_table.RINGS)
    assert all(ring.waits_for in (None, *ring.readers) for ring in process_table.RINGS)


def test_an_owner_may_move_a_process_to_other_cores() -> None:
    changed = settings.load(None, overrides={"processes": {"thinker": {"cores": [1, 2, 3]}}})
    rows = {part.name: part for part in rows_to_run(changed)}
    assert rows["thinker"].cores == (1, 2, 3)
    assert rows["capture"] == process_table.row("capture")


def test_a_change_to_a_process_that_does_not_exist_is_refused() -> None:
    changed = settings.load(None, overrides={"processes": {"thinkr": {"nice": 1}}})
    with pytest.raises(SettingsError, match="no such process"):
        rows_to_run(changed)
