"""Set-up of every child process: title, cores, priority, rights, memory, signals, heartbeat.

The launcher (`runtime/supervision/launch.py`) calls `main` here in each process that it has
forked. A process module's `main(work)` gets a `Worker`: its settings, rings, channel, floor and
heartbeat, and nothing else.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import setproctitle

from appliance.errors import BadMessage, InterludeError
from appliance.messages.registry import Message, ObservedMessage
from appliance.runtime import landlock, places, process_table, rights
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.ipc.floor import Floor
from appliance.runtime.ipc.heartbeat import Heartbeat
from appliance.runtime.ipc.ring_handles import RingHandles, RingSpec, from_wire
from appliance.runtime.listening_socket import listen_on_all
from appliance.runtime.log import set_up_logging
from appliance.runtime.sandbox import no_network, no_programs
from appliance.runtime.supervision.process_limits import (
    limit_memory,
    lock_memory,
    offer_to_oom_killer,
    read_mapped_files,
    set_cores,
    set_priority,
)
from appliance.settings import Settings
from appliance.settings.adjusted import adjusted

if TYPE_CHECKING:
    from appliance.runtime.ipc.ring import RingReader, RingWriter

WIRING = "INTERLUDE_WIRING"  # environment variable: row, settings and descriptors as JSON


class Worker:
    """What a process module gets. Descriptors are for poll(2); only `wait` blocks."""

    def __init__(self, name: str, wiring: dict[str, Any]) -> None:
        self.name = name
        self.files = msgspec.convert(wiring["settings"], Settings)  # as the settings files say
        self.settings = adjusted(self.files)  # with the overrides made at run time
        self.row = msgspec.convert(wiring["row"], process_table.Process)
        self.log = logging.getLogger(name)
        self.box_started_s: float = wiring["box_started_s"]  # CLOCK_MONOTONIC
        self.floor = Floor(wiring["floor_fd"])
        self.channels = {
            peer: Channel(socket.socket(fileno=fd)) for peer, fd in wiring["channel_fds"].items()
        }
        self._heartbeat = Heartbeat(wiring["heartbeat_fd"], wiring["heartbeat_slot"])
        self._rings = {
            name: from_wire(_spec(name, wire), wire) for name, wire in wiring["rings"].items()
        }
        self._logged_errors: set[str] = set()
        self.listeners: list[socket.socket] = []  # sockets of a part with a row in rights.LISTENS
        self.stopping = False
        self.stop_fd, self._stop_write_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    @property
    def channel(self) -> Channel:
        """The channel to the conductor."""
        return self.channels["conductor"]

    def reader(self, name: str, *, resume: bool = False) -> RingReader:
        # Here: the supervisor imports this module, too, and needs no numpy.
        from appliance.runtime.ipc.ring import RingReader

        return RingReader(self._rings[name], self.name, resume=resume)

    def writer(self, name: str) -> RingWriter:
        from appliance.runtime.ipc.ring import RingWriter  # as above

        return RingWriter(self._rings[name])

    def ring(self, name: str) -> RingHandles | None:
        """A ring's descriptors; None if this box does not have the ring."""
        return self._rings.get(name)

    def beat(self) -> None:
        """Report that this process is alive; call it at least every `row.silent_s`."""
        self._heartbeat.beat(time.monotonic_ns())

    def wait(self, seconds: float) -> bool:
        """Beat, then wait for `seconds` or the stop. Returns True when this process is to end."""
        self.beat()
        poll = select.poll()
        poll.register(self.stop_fd, select.POLLIN)
        poll.poll(1000 * seconds)
        return self.stopping

    def wait_as_ready(self, seconds: float) -> bool:
        """As `wait`, but report ready first: the start of the box does not wait for, say, a busy
        port."""
        self.report_ready()
        return self.wait(seconds)

    def report_loading(self) -> None:
        """Report that this process has started, and loads data, possibly for minutes."""
        self.beat()
        self._heartbeat.mark_loading()

    def report_ready(self) -> None:
        """Report that this process is working from now on."""
        if self.row.lock_memory:
            read_mapped_files()  # also those that were mapped since `lock_memory`
        self.beat()
        self._heartbeat.mark_ready()

    def send(self, message: Message) -> bool:
        return self.channel.send(message)

    def pop_messages(self, peer: str = "conductor") -> list[Message]:
        """All messages that have arrived. Malformed ones are skipped; each kind of error is logged
        once."""
        bad: list[BadMessage] = []
        received = self.channels[peer].receive_all(bad)
        arrived = [message for message in received if not isinstance(message, ObservedMessage)]
        for error in bad:
            if str(error) not in self._logged_errors:
                self._logged_errors.add(str(error))
                self.log.warning("bad message from %s: %s", peer, error)
        return arrived

    def stop(self, *_: object) -> None:
        """Ask the main loop to end; safe in a signal handler."""
        self.stopping = True
        try:
            os.write(self._stop_write_fd, b"x")
        except BlockingIOError:
            return  # the pipe is full of earlier requests


def _spec(name: str, wire: dict[str, Any]) -> RingSpec:
    """The ring's row with its actual readers: those of the table, and any watchers."""
    row = next(spec for spec in process_table.RINGS if spec.name == name)
    return replace(row, readers=tuple(wire["bell_fds"]))


def _give_up_rights(name: str, settings: Settings) -> Iterator[str]:
    """Give up the network, files and programs that the row `name` does not have. Yields what could
    not be done, or ''. A part of a test or a bench, without a row of files, keeps those."""
    files = process_table.FILES.get(name)
    if files is not None:
        yield landlock.enter(places.domain(name, settings))
    programs = files is None or bool(files.starts)
    if not rights.networked(name, settings):
        yield no_network(rights.unix_sockets(name, settings), programs=programs)
    elif not programs:
        yield no_programs()


def main(name: str) -> int:
    """Run the process `name` until SIGTERM. Returns an exit code."""
    setproctitle.setproctitle(f"interlude: {name}")
    wiring = json.loads(os.environ.pop(WIRING))
    work = Worker(name, wiring)
    set_up_logging(work.settings.log)
    signal.signal(signal.SIGTERM, work.stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the supervisor stops this process
    row = work.row
    limits = [set_cores(row.cores)]
    limits.append(set_priority(row))
    if addresses := rights.listens_on(name, work.settings):
        work.listeners = listen_on_all(addresses, wait=work.wait_as_ready)
        if not work.listeners:
            return 0
    limits.append(offer_to_oom_killer(process_table.OOM_SCORES.get(name, 0)))
    limits += _give_up_rights(name, work.settings)
    if name not in process_table.UNLIMITED:
        limits.append(limit_memory(row.memory_mib))
    module = importlib.import_module(wiring["module"])
    if row.lock_memory:
        limits.append(lock_memory())
    for limit in filter(None, limits):
        work.log.info("runs without: %s", limit)
    work.beat()
    try:
        module.main(work)
    except InterludeError as error:
        work.log.error("%s", error)
        return error.exit_code
    return 0
