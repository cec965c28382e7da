"""Small real processes in place of the parts, and helpers for a supervisor that runs them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from appliance.messages.registry import Message, ObservedMessage
from appliance.runtime import process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.supervisor import Supervisor

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
    if MODE.startswith("shares core "):  # at idle priority, below everything else on that core
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
    # A tracer that never waits keeps this process unreaped, as a driver keeps one in D state.
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
    """The row of a process with normal scheduling and no pinned cores."""
    return process_table.Process(
        name, name, (), "normal", 0, 0, False, start_s, silent_s, needed, 1.0, memory_mib=500,
        package="doubles",
    )  # fmt: skip


def until(supervisor: Supervisor, true: Callable[[], object], seconds: float = 30.0) -> None:
    """Run the supervisor until `true()`."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "timeout: the condition never became true"
        supervisor.run_once(0.02)


def mail(supervisor: Supervisor) -> list[Message]:
    """The messages that the supervisor sent to the conductor."""
    every = Channel(supervisor.ipc.ends["supervisor"][1].dup()).receive_all()
    return [message for message in every if not isinstance(message, ObservedMessage)]


def pid(supervisor: Supervisor, name: str) -> int:
    child = supervisor.parts[name].child
    assert child is not None
    return child.pid
