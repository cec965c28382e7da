"""Creates a ring's memory and descriptors in the supervisor, for the processes that use the ring.

In: the ring's row. Out: its handles, to which ring.py attaches. It does not import numpy, which a
part without a ring never loads.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass
from typing import Any

from appliance.errors import RingError

MAGIC = 0x52494E474C445549  # "IUDLGNIR" read as little endian
HEADER_BYTES = 256
SLOT_HEADER_BYTES = 64
# Words of the header (u64 each): magic, bytes per slot, number of slots, head, one per reader.
HEAD = 3
FIRST_READER = 4


@dataclass(frozen=True)
class RingSpec:
    """One row of the table of rings. `waits_for`: the reader whose unread slots are kept."""

    name: str
    writer: str
    readers: tuple[str, ...]
    slots: int
    frames: int
    waits_for: str | None = None


@dataclass(frozen=True)
class RingHandles:
    """File descriptors of one ring: its memory, an eventfd per reader, and one for freed slots."""

    spec: RingSpec
    memory_fd: int
    bell_fds: dict[str, int]
    room_fd: int

    @property
    def fds(self) -> tuple[int, ...]:
        return (self.memory_fd, *self.bell_fds.values(), self.room_fd)

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)


def create(spec: RingSpec) -> RingHandles:
    """Create an empty ring. A process with the descriptors can attach; no file is created."""
    if len(spec.readers) > (HEADER_BYTES // 8) - FIRST_READER:
        raise RingError(f"Ring {spec.name} has too many readers.")
    size = HEADER_BYTES + spec.slots * stride(spec)
    memory_fd = os.memfd_create(f"interlude-{spec.name}", os.MFD_CLOEXEC)
    os.ftruncate(memory_fd, size)
    with mmap.mmap(memory_fd, size) as memory:
        struct.pack_into("=QQQQ", memory, 0, MAGIC, stride(spec), spec.slots, 0)
    flags = os.EFD_NONBLOCK | os.EFD_CLOEXEC
    bells = {reader: os.eventfd(0, flags) for reader in spec.readers}
    return RingHandles(spec, memory_fd, bells, os.eventfd(0, flags))


def stride(spec: RingSpec) -> int:
    """Size of a slot in bytes."""
    return SLOT_HEADER_BYTES + (spec.frames * 2 + 63) // 64 * 64


def to_wire(handles: RingHandles) -> dict[str, Any]:
    """The handles as plain data, for a child that inherits the descriptors by number."""
    return {
        "memory_fd": handles.memory_fd,
        "bell_fds": dict(handles.bell_fds),
        "room_fd": handles.room_fd,
    }


def from_wire(spec: RingSpec, wire: dict[str, Any]) -> RingHandles:
    """The inverse of `to_wire`."""
    return RingHandles(spec, wire["memory_fd"], wire["bell_fds"], wire["room_fd"])
