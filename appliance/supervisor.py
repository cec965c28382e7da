"""The supervisor keeps the process table true.

In: the table and the settings. Out: running processes joined by rings, a floor and channels.
A part that exits or stops beating is killed and started again with back-off; after five times
in a minute it is given up, said so, and the rest goes on.
"""

from __future__ import annotations

import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

import msgspec
import sdnotify

from appliance import processes
from appliance.ipc import floor, heartbeat, ring
from appliance.ipc.channel import Channel, pair
from appliance.ipc.floor import Floor
from appliance.ipc.heartbeat import Heartbeat
from appliance.messages import PartChanged, Restart, StateChanged
from appliance.settings import Settings
from appliance.status import Status, StatusFile, folder
from appliance.worker import WIRING

RESTARTS_A_MINUTE = 5
BACK_OFF_S = (0.0, 0.2, 0.5, 1.0, 2.0)  # before the first, second, … restart within a minute
START_S = 15.0  # until a part's first beat: importing from a cold SD card takes seconds
STOP_S = 3.0  # for an orderly stop of a part; then it is killed
FEED_S = 1.0  # between two notes to systemd's watchdog (WatchdogSec= is 30 s in the unit)
LOOK_S = 0.25  # between two looks at the heartbeats

log = logging.getLogger("supervisor")


@dataclass
class Part:
    """One row of the table and the process that embodies it."""

    row: processes.Process
    heart: Heartbeat
    child: subprocess.Popen[bytes] | None = None
    exit_fd: int = -1
    announced: bool = False
    failed: bool = False
    start_at: float = 0.0
    starts: list[float] = field(default_factory=list)


class Supervisor:
    """Runs the table.

    `watchers` are extra parties with a channel to the conductor and readers
    of every ring; the room of a rehearsal is one. `rows` and `package` are the table's unless a
    test brings its own parts.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        rows: tuple[processes.Process, ...] | None = None,
        package: str = "appliance",
        watchers: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        rows = processes.table(settings) if rows is None else rows
        self._settings = settings
        self._package = package
        self._environment = dict(os.environ if environment is None else environment)
        self._environment.pop("NOTIFY_SOCKET", None)  # only the supervisor speaks with systemd
        # Our matrices are tiny; NumPy's thread pool would cost each part 40 MiB of locked memory.
        self._environment.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._clock = clock
        self._started_s = time.monotonic()
        self.floor_fd = floor.create()
        if settings.panel.mute_switch and any(row.name == "panel" for row in rows):
            self.floor().switched_off = True  # until the panel has read the switch
        self._heartbeat_fd = heartbeat.create(len(rows))
        self.parts = {
            row.name: Part(row, Heartbeat(self._heartbeat_fd, slot))
            for slot, row in enumerate(rows)
        }
        self.rings = {
            spec.name: ring.create(replace(spec, readers=spec.readers + watchers))
            for spec in processes.RINGS
        }
        peers = [row.name for row in rows if row.name != "conductor"] + ["supervisor", *watchers]
        self._ends: dict[str, tuple[socket.socket, socket.socket]] = {p: pair() for p in peers}
        self._conductor = self.channel("supervisor")
        self._poll = select.poll()
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll.register(self._wake_read, select.POLLIN)
        self._poll.register(self._conductor.fileno(), select.POLLIN)
        self._notifier = sdnotify.SystemdNotifier()
        if self._notifier.socket is not None:
            self._notifier.socket.setblocking(False)  # a slow systemd must not stop us
        self._status = StatusFile(folder())
        self._state = "starting"
        self._fed_at = -FEED_S
        self._was_ready = False
        self.stopping = False
        self.restarting = False

    def channel(self, peer: str) -> Channel:
        """The end of `peer`'s channel to the conductor that is `peer`'s own."""
        return Channel(self._ends[peer][0])

    def floor(self) -> Floor:
        return Floor(self.floor_fd)

    # ── running ──────────────────────────────────────────────────────────────────────────────
    def run(self) -> None:
        """Start everything, keep it true, stop it in order when asked to.

        Afterwards `restarting` says whether it is to begin anew.
        """
        self.start()
        try:
            while not self.stopping:
                self.step()
        finally:
            self.stop_all()

    def start(self) -> None:
        for part in self.parts.values():
            self._spawn(part)

    def step(self, wait_s: float = LOOK_S) -> None:
        """Wait for an exit or a moment, then look after every part once."""
        self._poll.poll(wait_s * 1000)
        for message in self._conductor.receive_all():
            if isinstance(message, Restart):
                log.info("told to begin anew")
                self.restarting = self.stopping = True
            elif isinstance(message, StateChanged):
                self._state = message.state
        now = self._clock()
        for part in self.parts.values():
            self._look_after(part, now)
        self._notify()

    def request_stop(self, *_: object) -> None:
        """End `run`; safe in a signal handler and from another thread."""
        self.stopping = True
        os.write(self._wake_write, b"x")

    @property
    def ready(self) -> bool:
        """Every part that was not given up does its work."""
        return all(p.failed or (p.child and p.heart.is_ready) for p in self.parts.values())

    @property
    def healthy(self) -> bool:
        """Every needed part is up and beats; systemd's watchdog is fed only while this holds."""
        now_ns = time.monotonic_ns()
        return not any(
            part.failed or part.heart.age_s(now_ns) > part.row.silent_s
            for part in self.parts.values()
            if part.row.needed
        )

    def stop_all(self) -> None:
        """Stop the parts, all at once but for the first, which notes what the others were at."""
        self.stopping = True
        self._notifier.notify("STOPPING=1")
        parts = list(self.parts.values())
        self._stop(parts[:0:-1])
        self._stop(parts[:1])

    def _stop(self, parts: list[Part]) -> None:
        """Together they have as long as one."""
        running = [(part, part.child) for part in parts if part.child is not None]
        for _, child in running:
            child.send_signal(signal.SIGCONT)
            child.terminate()
        limit_s = time.monotonic() + STOP_S
        for part, child in running:
            try:
                child.wait(max(0.0, limit_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("%s did not stop in %g s and was killed", part.row.name, STOP_S)
                child.kill()
                child.wait()
            self._bury(part)

    def close(self) -> None:
        """Give back every descriptor."""
        for handles in self.rings.values():
            handles.close()
        for ends in self._ends.values():
            for end in ends:
                end.close()
        for fd in (self.floor_fd, self._heartbeat_fd, self._wake_read, self._wake_write):
            os.close(fd)

    # ── one part ─────────────────────────────────────────────────────────────────────────────
    def _look_after(self, part: Part, now: float) -> None:
        if part.failed or self.stopping:
            return
        if part.child is None:
            if now >= part.start_at:
                self._spawn(part)
            return
        code = part.child.poll()
        silent_s = part.heart.age_s(time.monotonic_ns())
        if code is None and silent_s > part.row.silent_s:
            part.child.kill()  # a part that hangs, or was stopped, is as dead as one that exits
            part.child.wait()
            self._went_down(part, f"did not beat for {silent_s:.0f} s", now)
        elif code is not None:
            self._went_down(part, _how_it_ended(code), now)
        elif part.heart.is_ready and not part.announced:
            part.announced = True
            log.info("%s is up", part.row.name)
            self._conductor.send(PartChanged(part.row.name, "up"))

    def _went_down(self, part: Part, problem: str, now: float) -> None:
        self._bury(part)
        part.starts = [start for start in part.starts if now - start < 60.0]
        restarts = len(part.starts) - 1
        name = part.row.name
        if restarts >= RESTARTS_A_MINUTE:
            part.failed = True
            log.error("%s %s; given up after %d restarts in a minute", name, problem, restarts)
            self._conductor.send(PartChanged(name, "failed", problem))
            return
        delay = BACK_OFF_S[min(restarts, len(BACK_OFF_S) - 1)]
        part.start_at = now + delay
        log.warning("%s %s; starting it again%s", name, problem, f" in {delay} s" if delay else "")
        self._conductor.send(PartChanged(name, "down", problem))
        if not delay:
            self._spawn(part)

    def _spawn(self, part: Part) -> None:
        name = part.row.name
        wiring, fds = self._wiring(name)
        part.heart.reset(time.monotonic_ns() + int(START_S * 1e9))
        part.announced = False
        part.starts.append(self._clock())
        part.child = subprocess.Popen(
            [sys.executable, "-m", "appliance.worker", name],
            env={**self._environment, WIRING: json.dumps(wiring)},
            stdin=subprocess.DEVNULL,
            pass_fds=fds,
            process_group=0,  # Ctrl-C at the terminal is ours alone: we stop them in order
        )
        part.exit_fd = os.pidfd_open(part.child.pid)
        self._poll.register(part.exit_fd, select.POLLIN)

    def _bury(self, part: Part) -> None:
        self._poll.unregister(part.exit_fd)
        os.close(part.exit_fd)
        part.child = None

    def _wiring(self, name: str) -> tuple[dict[str, object], tuple[int, ...]]:
        """What process `name` inherits: its settings and descriptors as data, and the latter."""
        if name == "conductor":
            ends = {peer: end[1].fileno() for peer, end in self._ends.items()}
        else:
            ends = {"conductor": self._ends[name][0].fileno()}
        row_rings = (*processes.reads(name), *processes.writes(name))
        mine = {spec.name: self.rings[spec.name] for spec in row_rings}
        fds = [self.floor_fd, self._heartbeat_fd, *ends.values()]
        for handles in mine.values():
            fds.extend(handles.fds)
        wiring: dict[str, object] = {
            "settings": msgspec.to_builtins(self._settings),
            "row": asdict(self.parts[name].row),
            "module": f"{self._package}.{self.parts[name].row.module}",
            "box_started_s": self._started_s,
            "floor_fd": self.floor_fd,
            "heartbeat_fd": self._heartbeat_fd,
            "heartbeat_slot": list(self.parts).index(name),
            "channel_fds": ends,
            "rings": {ring_name: ring.to_wire(handles) for ring_name, handles in mine.items()},
        }
        return wiring, tuple(fds)

    def _notify(self) -> None:
        if self.ready and not self._was_ready:
            self._was_ready = True
            self._notifier.notify("READY=1\nSTATUS=listening")
        if self._clock() - self._fed_at >= FEED_S and self.healthy:
            self._fed_at = self._clock()
            self._notifier.notify("WATCHDOG=1")
        self._status.write(
            Status(
                pid=os.getpid(),
                state=self._state,
                ready=self.ready,
                healthy=self.healthy,
                failed=tuple(name for name, part in self.parts.items() if part.failed),
            )
        )


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"exited with code {code}"
