"""The supervisor: starts and watches the processes of the process table.

In: the table and the settings. Out: running processes, connected by rings, a floor and channels.
A part that exits or stops beating is killed and restarted, for ever, after a pause that grows as
long as it keeps ending (runtime/supervision/backoff.py). The other parts keep running meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import select
import time
from collections.abc import Callable, Mapping

import msgspec

from appliance.messages.commands import Restart, StateChanged
from appliance.messages.supervision import PartChanged
from appliance.runtime import enabled, process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.ipc.floor import Floor
from appliance.runtime.ipc.heartbeat import Heartbeat
from appliance.runtime.status import StatusFile, SupervisorStatus, folder, systemd_line
from appliance.runtime.supervision.child import how_it_ended
from appliance.runtime.supervision.failure_rate import TOO_MANY
from appliance.runtime.supervision.ipc_resources import IpcResources
from appliance.runtime.supervision.launcher import Launcher
from appliance.runtime.supervision.startup import is_loading as any_loading
from appliance.runtime.supervision.startup import is_started as all_started
from appliance.runtime.supervision.starvation import LATE_S, SHEDS, LoadShedding
from appliance.runtime.supervision.supervised_part import SupervisedPart
from appliance.runtime.supervision.systemd_notify import SystemdNotifier
from appliance.runtime.worker import WIRING
from appliance.settings import Settings

STOP_S = 3.0  # between SIGTERM and SIGKILL
GONE_S = 1.0  # after SIGKILL; a process that still exists is blocked in a driver
SWITCH_LATE_S = 2.0  # the panel reads the mute switch and beats at least once a second
LOOK_S = 0.25  # between two readings of the heartbeats

log = logging.getLogger("supervisor")


class Supervisor:
    """Runs the rows of the process table.

    `watchers`: further peers with a channel to the conductor that read every ring. `rows`: those of
    the table, except in tests and benches. `launcher`: one for several supervisors, or its own.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        rows: tuple[process_table.Process, ...],
        watchers: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        launcher: Launcher | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._environment = dict(os.environ if environment is None else environment)
        self._environment.pop("NOTIFY_SOCKET", None)  # only the supervisor notifies systemd
        self._shared, self._launcher = launcher, launcher or Launcher(self._environment)
        self._clock = clock
        self._started_s = time.monotonic()
        self.ipc = IpcResources(rows, watchers, enabled.rings_to_make(settings))
        self.rings = self.ipc.rings
        self._floor = self.floor()
        self._has_switch = settings.panel.mute_switch  # also if the row panel does not run
        self._floor.panel_lost = self._has_switch  # until the panel has read the switch
        self.parts = {
            row.name: SupervisedPart(row, Heartbeat(self.ipc.heartbeat_fd, slot))
            for slot, row in enumerate(rows)
        }
        self._conductor = self.channel("supervisor")
        self._poll = select.poll()
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll.register(self._wake_read, select.POLLIN)
        self._poll.register(self._conductor.fileno(), select.POLLIN)
        self.service = SystemdNotifier()
        self._status = StatusFile(folder())
        self._state, self._taken_back, self._passed_on = "starting", 0, 0
        self._strain = LoadShedding()
        self._checked_s = self._spawned_s = self._clock()
        self.stopping = self.restarting = self.given_up = False

    def channel(self, peer: str) -> Channel:
        """The end of the channel to the conductor that belongs to `peer`."""
        return self.ipc.channel(peer)

    def floor(self) -> Floor:
        return Floor(self.ipc.floor_fd)

    def run(self) -> None:
        """Run all parts until `request_stop`. Afterwards `restarting` or `given_up` is True if that
        was the reason of the end."""
        try:
            self.start()
            while not self.stopping:
                self.run_once()
        finally:
            self.stop_all()

    def start(self) -> None:
        self._checked_s = self._clock()
        for part in self.parts.values():
            self._check_safely(part, self._checked_s)

    def run_once(self, wait_s: float = LOOK_S) -> None:
        """Wait for an exit, a message or `wait_s`, then check every part once."""
        now = self._clock()
        waiting = (part.start_s for part in self.parts.values() if part.child is None)
        # A part that is due already was deferred in the last round.
        due_s = min((start_s for start_s in waiting if start_s > now), default=math.inf)
        self._poll.poll(1000 * min(wait_s, due_s - now))
        for message in self._conductor.receive_all():
            if isinstance(message, Restart):
                log.info("restart requested")
                self.restarting = self.stopping = True
            elif isinstance(message, StateChanged):
                self._state, self._taken_back = message.state, message.taken_back
                self._passed_on = message.passed_on
        now = self._clock()
        late_s = max(0.0, now - self._checked_s - LOOK_S)
        self._checked_s = now
        for part in self.parts.values():
            if not self.stopping:
                self._check_safely(part, now, late_s)
        if self._has_switch:  # a switch that is not read may be at mute
            panel = self.parts.get("panel")
            self._floor.panel_lost = panel is None or not panel.has_beaten(SWITCH_LATE_S)
        self._update_load_shedding(now, late_s)
        self._report_status(now)

    def request_stop(self, *_: object) -> None:
        """End `run`; safe in a signal handler and from another thread."""
        self.stopping = True
        os.write(self._wake_write, b"x")

    @property
    def is_ready(self) -> bool:
        """Whether every part that has not failed is ready."""
        return all(p.failed or (p.child and p.heart.is_ready) for p in self.parts.values())

    @property
    def is_started(self) -> bool:
        """Whether the start is over, for systemd."""
        return all_started(self.parts.values(), self._since_s)

    @property
    def is_loading(self) -> bool:
        """Whether the start continues because a part loads its data."""
        return any_loading(self.parts.values(), self._since_s)

    @property
    def _since_s(self) -> float:
        return time.monotonic() - self._started_s

    @property
    def healthy(self) -> bool:
        """Whether every needed part is well; systemd's watchdog is fed only while it holds."""
        now, now_ns = self._clock(), time.monotonic_ns()
        return all(part.well(now, now_ns) for part in self.parts.values() if part.row.needed)

    def stop_all(self) -> None:
        """Stop all parts but the first at once, then the first, which gets their last messages."""
        self.stopping = True
        if not (self.restarting or self.given_up):
            self.service.stopping()
        parts = list(self.parts.values())
        self._stop(parts[:0:-1])
        self._stop(parts[:1])

    def _stop(self, parts: list[SupervisedPart]) -> None:
        """Stop these parts at the same time: SIGTERM, then SIGKILL."""
        for part in parts:
            if part.child is not None:
                part.child.terminate()
        for part in self._wait_for_end(parts, STOP_S):
            log.warning("%s did not stop in %g s and was killed", part.row.name, STOP_S)
            part.kill("did not stop", self._clock())
        for part in self._wait_for_end(parts, GONE_S):
            log.error("%s cannot be ended: it is blocked in a driver", part.row.name)
            self._forget_process(part)

    def _wait_for_end(self, parts: list[SupervisedPart], limit_s: float) -> list[SupervisedPart]:
        """Wait for the parts to end; returns those that still exist after `limit_s`."""
        end_s = time.monotonic() + limit_s
        while True:
            left = []
            for part in parts:
                if part.child is not None and part.child.poll() is None:
                    left.append(part)
                elif part.child is not None:
                    self._forget_process(part)
            wait_s = end_s - time.monotonic()
            if not left or wait_s <= 0:
                return left
            poll = select.poll()
            for part in left:
                if part.child is not None:
                    poll.register(part.child.fd, select.POLLIN)
            poll.poll(1000 * min(wait_s, LOOK_S))

    def close(self) -> None:
        """End the launcher, if it is its own, and close every descriptor."""
        if self._shared is None:
            self._launcher.close()
        self.ipc.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _check_safely(self, part: SupervisedPart, now: float, late_s: float = 0.0) -> None:
        """Check one part; an exception counts as a failure of that part, not of the box."""
        try:
            self._check(part, now, late_s)
        except Exception as error:  # noqa: BLE001  # any error: the other parts must be checked
            problem = f"could not be checked ({type(error).__name__}: {error})"
            if part.child is None:
                self._went_down(part, problem, now)
            elif part.ending is None:
                part.kill(problem, now)

    def _check(self, part: SupervisedPart, now: float, late_s: float) -> None:
        others_start = any(other.starting for other in self.parts.values() if other is not part)
        if part.child is None:
            if now >= part.start_s and self._strain.may_start(
                now, others_start=others_start, started_s=self._spawned_s
            ):
                self._spawn(part, now)
            return
        code = part.child.poll()
        silent_s = part.check_heartbeat(now, time.monotonic_ns(), late_s)
        if code is not None:
            problem = part.ending or how_it_ended(code)
            self._forget_process(part)
            self._went_down(part, problem, now)
        elif part.ending is not None:
            if part.stuck(now) and not part.failed:
                self._report_failure(part, f"{part.ending}, and is blocked in a driver")
        elif silent_s > part.patience_s:  # hung, or stopped by a signal
            if self._strain.may_restart(
                now,
                queued_s=part.silence.queued_s,
                patience_s=part.patience_s,
                others_start=others_start,
                started_s=self._spawned_s,
            ):
                part.kill(f"did not beat for {silent_s:.0f} s", now)
        elif part.heart.is_ready and not part.announced:
            self._came_up(part, now)

    def _came_up(self, part: SupervisedPart, now: float) -> None:
        part.announced, part.failed, part.problem = True, False, ""
        part.back_off.up(now)
        log.info("%s is up", part.row.name)
        self._report(PartChanged(part.row.name, "up"))
        if part.row.name == "conductor":  # a new one has not got the earlier messages
            for other in self.parts.values():
                if other.failed:
                    self._report(PartChanged(other.row.name, "failed", other.problem))

    def _report(self, change: PartChanged) -> None:
        """Report to the conductor; not about itself: its successor would read that."""
        if change.part != "conductor":
            self._conductor.send(change)

    def _went_down(self, part: SupervisedPart, problem: str, now: float) -> None:
        pause_s = part.back_off.ended(now)
        part.start_s = now + pause_s
        part.ends.ended(now)
        if part.row.needed and part.ends.too_many and self.service.managed and not self.stopping:
            log.error("%s %s", part.row.name, TOO_MANY)  # without systemd it is retried for ever
            self.given_up = self.stopping = True
        again = f" in {pause_s:.3g} s" if pause_s else ""
        if part.back_off.failed or part.failed:
            self._report_failure(part, problem, again)
            return
        log.warning("%s %s; starting it again%s", part.row.name, problem, again)
        self._report(PartChanged(part.row.name, "down", problem))

    def _report_failure(self, part: SupervisedPart, problem: str, again: str = "") -> None:
        """Report a failed part once per problem; it is retried all the same."""
        if not part.failed or problem != part.problem:
            log.error("%s %s; starting it again%s, then more rarely", part.row.name, problem, again)
        if not part.failed:
            self._report(PartChanged(part.row.name, "failed", problem))
        part.failed, part.problem = True, problem

    def _spawn(self, part: SupervisedPart, now: float) -> None:
        wiring, fds = self.ipc.for_process(part.row.name)
        wiring |= {
            "settings": msgspec.to_builtins(self._settings),
            "module": f"{part.row.package}.{part.row.module}",
            "box_started_s": self._started_s,
        }
        part.heart.reset(time.monotonic_ns())
        part.starts += 1
        part.back_off.started(now)
        self._spawned_s = now
        environment = {**self._environment, WIRING: json.dumps(wiring)}
        part.child = self._launcher.launch(part.row.name, environment, fds)
        self._poll.register(part.child.fd, select.POLLIN)

    def _forget_process(self, part: SupervisedPart) -> None:
        """Forget the process: it is gone, or cannot be ended."""
        if part.child is not None:
            with contextlib.suppress(KeyError):
                self._poll.unregister(part.child.fd)
            part.child.close()
        part.child = part.ending = None
        part.announced = False

    def _update_load_shedding(self, now: float, late_s: float) -> None:
        """Update load shedding: publish its level on the floor and log a change."""
        now_ns = time.monotonic_ns()
        needed = (part for part in self.parts.values() if part.row.needed)
        self._strain.update(now, starved=late_s > LATE_S or any(p.starves(now_ns) for p in needed))
        level, before = self._strain.level, self._floor.strain
        if level == before:
            return
        self._floor.strain = level
        shed = " and ".join(SHEDS[:level])
        if level > before:
            log.warning("too little processor time: the box does without %s", shed)
        else:
            log.info("enough processor time again%s", f", but for {shed}" if shed else "")

    def _report_status(self, now: float) -> None:
        """Report the status to systemd and in the status file."""
        failed = tuple(name for name, part in self.parts.items() if part.failed)
        ready, healthy, reading = self.is_ready, self.healthy, self.is_loading
        status = SupervisorStatus(
            pid=os.getpid(), state=self._state, ready=ready, healthy=healthy, reading=reading,
            failed=failed, shed=SHEDS[: self._strain.level], taken_back=self._taken_back,
            passed_on=self._passed_on,
        )  # fmt: skip
        line = systemd_line(status)
        self.service.notify(
            now, ready=self.is_started, healthy=healthy, status=line, reading=reading
        )
        self._status.write(status)
