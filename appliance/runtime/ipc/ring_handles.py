"""A ring's memory and descriptors: made by the supervisor, handed to whoever reads or writes it.

In: the ring's row. Out: its handles, which ring.py attaches to. Without numpy, which a part that
has no ring never loads.
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
# Words of the header (u64 each): magic, bytes of a slot, slots, head, then one per reader.
HEAD = 3
FIRST_READER = 4


@dataclass(frozen=True)
class RingSpec:
    """One row of the table of rings. `waits_for` names the reader the writer leaves room for."""

    name: str
    writer: str
    readers: tuple[str, ...]
    slots: int
    frames: int
    waits_for: str | None = None


@dataclass(frozen=True)
class RingHandles:
    """File descriptors of one ring: the memory, a bell per reader, the bell of room made."""

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
    """Make an empty ring. Whoever holds the descriptors can attach; nothing is left on disk."""
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
    """Bytes of a slot."""
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
