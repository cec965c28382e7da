"""Rings of sound: one writer, several readers, fixed-size slots in a memfd.

In: samples from the one process that writes. Out: the same samples, in order, to each reader.
An eventfd per reader is both the wake-up (the bell) and the memory barrier; README.md says why
that is enough; tests/runtime/ipc/test_weak_order.py runs this code on a model of a weakly ordered
CPU.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
import zlib
from collections.abc import Iterator

import msgspec
import numpy as np

from appliance.errors import RingError
from appliance.pcm import Samples
from appliance.runtime.ipc.ring_handles import (
    FIRST_READER,
    HEAD,
    HEADER_BYTES,
    MAGIC,
    SLOT_HEADER_BYTES,
    RingHandles,
    stride,
)

# Header of a slot: sequence word, index, position, stamp_ns, stream, frames, flags; then the CRC of
# all of these and of the samples.
_FIELDS = struct.Struct("=QqqqQII")
_SEQUENCE = struct.Struct("=Q")
_CRC = struct.Struct("=I")
_REST_BYTES = _FIELDS.size - _SEQUENCE.size + _CRC.size  # after the sequence word
_UNFINISHED = 0

START = 1  # flag: the first slot of an utterance or an answer
END = 2  # flag: its last slot; it may hold no samples
PAUSE = 4  # flag: nothing follows unless the owner continues to speak; it may hold no samples
WORD = 8  # flag: its first sample is the start of a word
QUIET = 16  # flag: no speech was detected when it was written; PAUSE may be next


class RingSlot(msgspec.Struct, frozen=True, gc=False):
    """One slot as the reader returns it.

    `index` is the card's sample index of the first sample (CLOCK_MONOTONIC s times 16,000 when
    the stream started, then counted); `position` counts from the start of the answer or
    utterance; `stream` is its number; `samples` is int16, mono, 16 kHz.
    """

    sequence: int
    index: int
    position: int
    stamp_ns: int
    stream: int
    flags: int
    samples: Samples


class _Attached:
    """Base of reader and writer: the mapping, and all loads and stores of shared memory."""

    def __init__(self, handles: RingHandles) -> None:
        spec = handles.spec
        self.spec = spec
        self._stride = stride(spec)
        self._memory = mmap.mmap(handles.memory_fd, HEADER_BYTES + spec.slots * self._stride)
        self._bytes = memoryview(self._memory)
        self._words = self._bytes.cast("Q")
        if tuple(self._words[:3]) != (MAGIC, self._stride, spec.slots):
            raise RingError(f"The memory of ring {spec.name} has another layout.")

    def _slot(self, sequence: int) -> int:
        return HEADER_BYTES + (sequence % self.spec.slots) * self._stride

    def _load(self, word: int) -> int:
        """One aligned 64-bit load."""
        return self._words[word]

    def _store(self, word: int, value: int) -> None:
        """One aligned 64-bit store."""
        self._words[word] = value

    def _load_bytes(self, start: int, length: int) -> bytes:
        """A copy of shared memory; its words may be loaded in any order."""
        return bytes(self._bytes[start : start + length])

    def _store_bytes(self, start: int, data: bytes | memoryview) -> None:
        """Stores to shared memory; they may become visible in any order."""
        self._bytes[start : start + len(data)] = data

    def _taken(self, reader: str) -> int:
        return FIRST_READER + self.spec.readers.index(reader)


class RingWriter(_Attached):
    """The one writer of a ring. A restarted writer continues where its predecessor stopped."""

    def __init__(self, handles: RingHandles) -> None:
        super().__init__(handles)
        self._bells = tuple(handles.bell_fds.values())
        self.room_fd = handles.room_fd
        self._waits_for = self._taken(self.spec.waits_for) if self.spec.waits_for else None
        self._next = self._load(HEAD)
        self._ring()  # a predecessor may have ended before it rang for its last slot

    def room(self) -> int:
        """Slots that can be written before the reader `waits_for` would lose one."""
        if self._waits_for is None:
            return self.spec.slots
        return self.spec.slots - (self._next - self._load(self._waits_for))

    def end_of(self, stream: int) -> int:
        """The position after the last sample of `stream`, if the newest slot holds any; else 0.

        For a writer that was restarted in the middle of an answer.
        """
        if self._next == 0:
            return 0
        header = self._load_bytes(self._slot(self._next - 1), _FIELDS.size)
        _, _, position, _, newest, frames, _ = _FIELDS.unpack(header)
        return int(position + frames) if newest == stream else 0

    def collect_room(self) -> None:
        """Reset `room_fd` after a poll; call `room()` afterwards."""
        _collect(self.room_fd)

    def write(
        self,
        samples: Samples,
        *,
        index: int = 0,
        position: int = 0,
        stream: int = 0,
        flags: int = 0,
        stamp_ns: int | None = None,
    ) -> int:
        """Store one slot of at most `spec.frames` samples, wake the readers, and return its number.

        Never blocks. On a ring with back-pressure it raises RingError when there is no room: the
        caller polls `room_fd` first.
        """
        frames = len(samples)
        if frames > self.spec.frames:
            raise RingError(f"{frames} samples do not fit a slot of ring {self.spec.name}.")
        if self._waits_for is not None and self.room() <= 0:
            raise RingError(f"Ring {self.spec.name} is full.")
        sequence = self._next
        slot = self._slot(sequence)
        stamp = time.monotonic_ns() if stamp_ns is None else stamp_ns
        payload = np.ascontiguousarray(samples, np.int16).view(np.uint8).data
        header = _FIELDS.pack(sequence + 1, index, position, stamp, stream, frames, flags)
        crc = _CRC.pack(_crc(header, payload))
        self._store(slot // 8, _UNFINISHED)
        self._store_bytes(slot + SLOT_HEADER_BYTES, payload)
        self._store_bytes(slot + _SEQUENCE.size, header[_SEQUENCE.size :] + crc)
        self._store(slot // 8, sequence + 1)
        self._next = sequence + 1
        self._store(HEAD, self._next)
        self._ring()
        return sequence

    def _ring(self) -> None:
        for bell in self._bells:
            os.eventfd_write(bell, 1)


class RingReader(_Attached):
    """One named reader. `lost` counts slots that were overwritten before they were read. `follows`:
    an earlier reader of that name has moved past slot 0."""

    def __init__(self, handles: RingHandles, name: str, *, resume: bool = False) -> None:
        """Start after the newest slot, or, with `resume`, where this reader's predecessor
        stopped."""
        super().__init__(handles)
        self._bell = handles.bell_fds[name]
        self._room_fd = handles.room_fd if self.spec.waits_for == name else None
        self._mark = self._taken(name)
        self._collect_bell()
        head = self._load(HEAD)
        taken = self._load(self._mark)
        self.follows = taken > 0
        self._next = taken if resume and head - taken <= self.spec.slots else head
        self._store(self._mark, self._next)
        # Slots written before need no bell; a bell that arrives before its slot is harmless.
        self._ready = head - self._next
        self.lost = 0

    def fileno(self) -> int:
        """The eventfd to poll for reading."""
        return self._bell

    def read(self) -> RingSlot | None:
        """The next slot, or None if there is none yet. Never blocks."""
        while True:
            if self._ready <= 0:
                self._ready = self._collect_bell()
                if self._ready == 0:
                    return None
            slot = self._slot(self._next)
            word = slot // 8
            sequence = self._load(word)
            if sequence == self._next + 1:
                found = self._copy(slot)
                if found is not None:
                    self._ready -= 1
                    self._advance(self._next + 1)
                    return found
                sequence = self._load(word)
            if sequence > self._next + 1:
                self._jump_to_newest()
            else:
                self._ready = 0  # the bell came first (after a restart of either side): wait

    def read_all(self) -> Iterator[RingSlot]:
        """All slots written so far, with a single read of the eventfd, at the start."""
        self._ready = max(self._ready, 0) + self._collect_bell()
        while self._ready > 0 and (slot := self.read()) is not None:
            yield slot

    def _collect_bell(self) -> int:
        """Number of slots announced since the last call; an acquire barrier."""
        return _collect(self._bell)

    def _copy(self, slot: int) -> RingSlot | None:
        """A copy of slot `_next`, or None if the copy is not consistent: part of the slot has not
        arrived yet, or was overwritten. The CRC covers the sequence number, so that it rejects a
        later lap of which all but the sequence word has arrived. The second load of that word
        detects an overwritten slot, because the CRC alone accepts one wrong copy in 2**32."""
        start = slot + _SEQUENCE.size
        header = _SEQUENCE.pack(self._next + 1) + self._load_bytes(start, _REST_BYTES)
        _, index, position, stamp, stream, frames, flags = _FIELDS.unpack_from(header)
        payload = self._load_bytes(slot + SLOT_HEADER_BYTES, 2 * min(frames, self.spec.frames))
        (crc,) = _CRC.unpack_from(header, _FIELDS.size)
        if _crc(header[: _FIELDS.size], payload) != crc:
            return None
        if self._load(slot // 8) != self._next + 1:
            return None
        samples = np.frombuffer(payload, np.int16)
        return RingSlot(self._next, index, position, stamp, stream, flags, samples)

    def _jump_to_newest(self) -> None:
        newest = max(self._load(HEAD) - 1, self._next + 1)
        self.lost += newest - self._next
        self._ready = max(1, self._ready - (newest - self._next))
        self._advance(newest)

    def _advance(self, to: int) -> None:
        self._next = to
        self._store(self._mark, to)
        if self._room_fd is not None:
            os.eventfd_write(self._room_fd, 1)


def _crc(header: bytes, payload: bytes | memoryview) -> int:
    """CRC-32 of a slot: its header, including the expected sequence number, and its samples."""
    return zlib.crc32(payload, zlib.crc32(header))


def _collect(fd: int) -> int:
    try:
        return os.eventfd_read(fd)
    except BlockingIOError:
        return 0
