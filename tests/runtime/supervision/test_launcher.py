"""The launcher: what a forked part gets, and what happens when the launcher ends or hangs."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.messages.supervision import PartChanged
from appliance.runtime.supervision import launch_messages
from appliance.runtime.supervision.child import Child
from appliance.runtime.supervision.launch_messages import ReportKind
from appliance.runtime.supervision.launcher import Launcher
from tests.runtime.small_parts import ROOT, Make, mail, pid, until

pytestmark = pytest.mark.process

# In place of the worker: prints what it was given.
WORKER = """
import os, sys, time
def main(name):
    given = (name, os.environ.get("GIVEN"), os.environ.get("OWN"), os.getcwd(), os.getpgid(0))
    print(*given, sorted(map(int, os.listdir("/proc/self/fd"))))
    print("to the log", file=sys.stderr)
    if name == "sleeps":
        time.sleep(600)
    return 7
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    """A launcher whose parts are WORKER."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys, types\n"
        f"module = types.ModuleType('worker')\n"
        f"exec({WORKER!r}, module.__dict__)\n"
        f"import appliance.runtime\n"
        f"sys.modules['appliance.runtime.worker'] = appliance.runtime.worker = module\n"
    )
    made = Launcher({**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "OWN": "the launcher's"})
    yield made
    made.close()


def wait(true: Callable[[], object], seconds: float = 20.0) -> None:
    end_s = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.005)


def cmdline(pid: int) -> bytes:
    """Empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def code_of(child: Child) -> int:
    wait(lambda: child.poll() is not None)
    code = child.poll()
    assert code is not None
    child.close()
    return code


def test_a_part_gets_its_own_descriptors_environment_folder_and_group(
    launcher: Launcher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    asleep = launcher.launch("sleeps", {"GIVEN": "other"}, [])
    wait(lambda: asleep.pid)
    first, second = os.pipe()
    child = launcher.launch("first", {"GIVEN": "yes"}, [second, first])
    wait(lambda: child.pid)
    started, code = child.pid, code_of(child)
    asleep.kill()
    assert code_of(asleep) == -signal.SIGKILL
    assert code == 7
    printed = capfd.readouterr()
    own = next(line for line in printed.out.splitlines() if line.startswith("first"))
    given, _, listed = own.partition(" [")
    assert given == f"first yes None {folder} {started}"
    open_fds = {int(number) for number in listed.rstrip("]").split(", ")}
    assert open_fds >= {0, 1, 2, first, second}
    assert len(open_fds) == 6  # and that of the folder which it lists
    assert "to the log" in printed.err
    for fd in (first, second):
        os.close(fd)


def test_only_the_supervisor_ends_the_launcher(launcher: Launcher, tmp_path: Path) -> None:
    child = launcher.launch("sleeps", {}, [])
    wait(lambda: child.pid)
    process = launcher._process
    for number in (signal.SIGTERM, signal.SIGINT):
        process.send_signal(number)
    assert code_of(launcher.launch("first", {}, [])) == 7
    launcher.close()
    assert process.returncode == 0
    assert code_of(child) == -signal.SIGKILL


def test_variables_that_take_effect_at_exec_need_a_launcher_of_their_own(
    launcher: Launcher,
) -> None:
    same = {**launcher._environment, "ALSA_CONFIG_PATH": "elsewhere"}
    assert launcher.fits(same)
    for name in ("LD_PRELOAD", "PYTHONPATH", "OPENBLAS_NUM_THREADS"):
        assert not launcher.fits({**same, name: "other"})


def test_an_environment_that_is_too_large_is_refused_and_the_launcher_stays(
    launcher: Launcher,
) -> None:
    with pytest.raises(OSError, match="Argument list too long"):
        launcher.launch("first", {"GIVEN": "x" * launch_messages.MOST_BYTES}, [])
    assert code_of(launcher.launch("first", {}, [])) == 7


class KilledLauncher:
    """Notes that it was killed."""

    def __init__(self) -> None:
        self.killed: list[str] = []

    def kill(self) -> None:
        self.killed.append("launcher")

    def ping(self) -> None:
        return None


def reports_of(*reports: bytes) -> tuple[Child, list[str]]:
    """A child whose launcher has sent these reports and ended, and whether it was killed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    launcher = KilledLauncher()
    with theirs:
        for one in reports:
            theirs.send(one)
    return Child("first", ours, launcher), launcher.killed


def test_a_part_that_cannot_be_forked_has_ended_and_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    child, _ = reports_of(launch_messages.report(ReportKind.NOT_STARTED, 11))
    assert code_of(child) == os.EX_OSERR
    assert "first cannot be started: Resource temporarily unavailable" in caplog.text


def test_a_part_that_the_launcher_did_not_start_before_its_end_has_ended() -> None:
    child, killed = reports_of()
    child.kill()
    assert code_of(child) == -signal.SIGKILL
    assert killed == []


def test_to_kill_a_part_that_never_started_ends_the_launcher() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    launcher = KilledLauncher()
    child = Child("first", ours, launcher)
    child.terminate()
    assert child.poll() is None
    child.kill()
    assert launcher.killed == ["launcher"]
    child.close()
    theirs.close()


def test_a_part_that_is_stopped_before_it_has_started_ends_when_it_starts(
    launcher: Launcher,
) -> None:
    child = launcher.launch("sleeps", {}, [])
    child.terminate()
    assert code_of(child) == -signal.SIGTERM


def test_after_a_crash_of_the_launcher_each_part_is_restarted_once(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    mail(supervisor)
    before = {name: pid(supervisor, name) for name in supervisor.parts}
    supervisor._launcher.kill()
    until(supervisor, lambda: all(
        part.announced and pid(supervisor, name) != before[name]
        for name, part in supervisor.parts.items()))  # fmt: skip
    told = mail(supervisor)
    for name, old in before.items():
        assert [m for m in told if isinstance(m, PartChanged) and m.part == name] == [
            PartChanged(name, "down", "was ended by SIGKILL"),
            PartChanged(name, "up"),
        ]
        assert not cmdline(old)
    assert all(part.starts == 2 for part in supervisor.parts.values())


def test_a_launcher_that_hangs_is_killed_and_the_parts_start_anew(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"}, start_s=2.0)
    supervisor.start()
    until(supervisor, lambda: all(part.announced for part in supervisor.parts.values()))
    hung, victim = supervisor._launcher._process, pid(supervisor, "first")
    hung.send_signal(signal.SIGSTOP)
    os.kill(victim, signal.SIGKILL)  # its end is not reported; it no longer beats
    until(supervisor, lambda: supervisor.parts["first"].announced
          and pid(supervisor, "first") != victim)  # fmt: skip
    until(supervisor, lambda: supervisor.is_ready)
    assert hung.wait(5) == -signal.SIGKILL


def test_the_parts_share_the_memory_of_their_imports(parts: Make) -> None:
    supervisor = parts({"first": "works", "second": "works"})
    supervisor.start()
    until(supervisor, lambda: supervisor.is_ready)
    rollup = Path(f"/proc/{pid(supervisor, 'second')}/smaps_rollup").read_text()
    kib = {line.split(":")[0]: int(line.split()[1]) for line in rollup.splitlines()[1:]}
    assert kib["Pss"] < kib["Rss"] / 2
