"""`interlude bench ring`: one-way latency between two processes by ring, Unix socket and Queue.

The time runs from the writer's stamp just before the write to the reader's clock just after the
read, at the microphone's rate of 200 slots of 5 ms a second.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import SpawnContext
from typing import Any

import numpy as np

from appliance.runtime.ipc import ring_handles
from appliance.runtime.ipc.ring import RingReader, RingWriter
from appliance.runtime.ipc.ring_handles import RingSpec
from lab.bench.benches import SPREAD, BenchOptions, FigureTable, spread

SPEC = RingSpec("mic", "writer", ("reader",), slots=512, frames=80)
PACE_S = 0.005
SLOT = np.zeros(80, np.int16)
EVENTS = 2000
FIFO_PRIORITY = 20  # that of the audio processes


def bench(options: BenchOptions) -> list[FigureTable]:
    """The ring, a Unix socket and a Queue, with `events` slots each."""
    slots = options.events or EVENTS
    sheet = FigureTable("One way between two processes, µs", ("", *SPREAD))
    with _realtime():
        for name, measure in (("ring", _through_ring), ("Unix socket", _through_socket),
                              ("multiprocessing.Queue", _through_queue)):  # fmt: skip
            times = measure(slots)
            sheet.rows.append((name, *spread(times, 0)))
            sheet.events += [{"through": name, "us": times}]
    sheet.notes.append(
        "From the stamp before the write to the clock after the read, 80 samples each 5 ms, with "
        "FIFO scheduling if permitted. The ring uses the product's own writer and polled reader."
    )
    return [sheet]


def _through_ring(slots: int) -> list[float]:
    handles = ring_handles.create(SPEC)
    reader = RingReader(handles, "reader")
    pid = _fork(_write_ring, (handles.memory_fd, handles.bell_fds["reader"],
                              handles.room_fd, slots))  # fmt: skip
    poll = select.poll()
    poll.register(reader.fileno(), select.POLLIN)
    times: list[float] = []
    while len(times) < slots and poll.poll(5000):
        while slot := reader.read():
            times.append((time.monotonic_ns() - slot.stamp_ns) / 1000)
    os.waitpid(pid, 0)
    handles.close()
    return times


def _write_ring(memory_fd: int, bell_fd: int, room_fd: int, slots: int) -> None:
    writer = RingWriter(ring_handles.RingHandles(SPEC, memory_fd, {"reader": bell_fd}, room_fd))
    _send_paced(slots, lambda: writer.write(SLOT))


def _through_socket(slots: int) -> list[float]:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    pid = _fork(_write_socket, (far.fileno(), slots))
    times = []
    for _ in range(slots):
        data = near.recv(8 + SLOT.nbytes, socket.MSG_WAITALL)
        times.append((time.monotonic_ns() - struct.unpack_from("=q", data)[0]) / 1000)
    os.waitpid(pid, 0)
    return times


def _write_socket(fd: int, slots: int) -> None:
    end = socket.socket(fileno=fd)
    _send_paced(slots, lambda: end.sendall(struct.pack("=q", time.monotonic_ns()) + SLOT.tobytes()))


def _through_queue(slots: int) -> list[float]:
    context: SpawnContext = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    child = context.Process(target=_write_queue, args=(queue, slots))
    child.start()
    times = []
    for _ in range(slots):
        sent_ns, _samples = queue.get(timeout=20)
        times.append((time.monotonic_ns() - sent_ns) / 1000)
    child.join()
    return times


def _write_queue(queue: Any, slots: int) -> None:
    _send_paced(slots, lambda: queue.put((time.monotonic_ns(), SLOT)))


def _send_paced(slots: int, send: Callable[[], Any]) -> None:
    due = time.monotonic() + 0.2
    for _ in range(slots):
        time.sleep(max(0.0, due - time.monotonic()))
        send()
        due += PACE_S


def _fork(target: Callable[..., None], args: tuple[int, ...]) -> int:
    """Run `target(*args)` in a forked child."""
    pid = os.fork()
    if pid == 0:
        try:
            target(*args)
        finally:
            os._exit(0)
    return pid


@contextlib.contextmanager
def _realtime() -> Iterator[None]:
    """Schedule this process and its children as the audio processes, if that is permitted."""
    normal = os.sched_getscheduler(0), os.sched_getparam(0)
    with contextlib.suppress(PermissionError):  # the figures are then those of normal scheduling
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
    try:
        yield
    finally:
        os.sched_setscheduler(0, *normal)
