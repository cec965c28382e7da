"""The ring: order, loss, replacement of either side, torn slots and back-pressure."""

from __future__ import annotations

import mmap
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance import pcm
from appliance.errors import RingError
from appliance.runtime.ipc import ring, ring_handles
from appliance.runtime.ipc.ring import RingReader, RingWriter
from appliance.runtime.ipc.ring_handles import RingSpec

SPEC = RingSpec("test", "writer", ("reader", "other"), slots=8, frames=80)
VOICE = RingSpec("test", "writer", ("reader",), slots=8, frames=80, waits_for="reader")
ROOT = Path(__file__).parents[3]


def block(value: int, frames: int = 80) -> pcm.Samples:
    return np.full(frames, value, np.int16)


def child(body: str, handles: ring_handles.RingHandles) -> subprocess.Popen[bytes]:
    """A real child process that inherits the ring as `handles`."""
    wire = ring_handles.to_wire(handles)
    head = (
        "import os, time\nimport numpy as np\n"
        "from appliance.runtime.ipc import ring, ring_handles\n"
        f"spec = ring_handles.{handles.spec!r}\nhandles = ring_handles.from_wire(spec, {wire!r})\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(body)],
        pass_fds=handles.fds,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )


def wait_for(reader: RingReader, seconds: float = 10.0) -> ring.RingSlot | None:
    poll = select.poll()
    poll.register(reader.fileno(), select.POLLIN)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if slot := reader.read():
            return slot
        poll.poll(100)
    return None


def test_a_slot_arrives_as_it_was_written() -> None:
    handles = ring_handles.create(SPEC)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    writer.write(block(7), index=-3, position=5, stream=2, flags=ring.START, stamp_ns=11)
    slot = reader.read()
    assert slot is not None
    assert (slot.sequence, slot.index, slot.position) == (0, -3, 5)
    assert (slot.stamp_ns, slot.stream, slot.flags) == (11, 2, ring.START)
    assert np.array_equal(slot.samples, block(7))
    assert reader.read() is None


def test_an_empty_slot_carries_its_flags() -> None:
    handles = ring_handles.create(SPEC)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    writer.write(block(0, 0), flags=ring.END)
    slot = reader.read()
    assert slot is not None
    assert len(slot.samples) == 0
    assert slot.flags == ring.END


def test_too_many_samples_for_a_slot_are_refused() -> None:
    writer = RingWriter(ring_handles.create(SPEC))
    with pytest.raises(RingError, match="do not fit"):
        writer.write(block(0, 81))


def test_memory_of_another_layout_is_refused() -> None:
    handles = ring_handles.create(SPEC)
    other = RingSpec("test", "writer", ("reader", "other"), slots=8, frames=800)
    os.ftruncate(handles.memory_fd, 1 << 20)
    with pytest.raises(RingError, match="another layout"):
        RingReader(ring_handles.from_wire(other, ring_handles.to_wire(handles)), "reader")


def test_every_reader_gets_every_slot_in_order() -> None:
    handles = ring_handles.create(SPEC)
    writer = RingWriter(handles)
    readers = [RingReader(handles, name) for name in SPEC.readers]
    for value in range(6):
        writer.write(block(value))
    for reader in readers:
        got = [slot.samples[0] for slot in iter(reader.read, None)]
        assert got == list(range(6))
        assert reader.lost == 0


def test_read_all_returns_all_slots_written_so_far() -> None:
    handles = ring_handles.create(SPEC)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    for value in range(4):
        writer.write(block(value))
    first = reader.read()
    assert first is not None
    assert [slot.samples[0] for slot in reader.read_all()] == [1, 2, 3]
    assert list(reader.read_all()) == []
    writer.write(block(4))
    assert [slot.samples[0] for slot in reader.read_all()] == [4]


def test_read_all_of_a_lapped_reader_continues_with_the_newest_slot() -> None:
    handles = ring_handles.create(SPEC)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    for value in range(20):
        writer.write(block(value))
    assert [slot.samples[0] for slot in reader.read_all()] == [19]
    assert reader.lost == 19


def test_a_lapped_reader_counts_its_loss_and_continues_with_the_newest_slot() -> None:
    handles = ring_handles.create(SPEC)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    for value in range(20):
        writer.write(block(value))
    slot = reader.read()
    assert slot is not None
    assert slot.samples[0] == 19
    assert reader.lost == 19
    assert reader.read() is None
    writer.write(block(20))
    slot = reader.read()
    assert slot is not None
    assert slot.samples[0] == 20


@given(st.lists(st.sampled_from(["write", "read"]), max_size=200))
def test_slots_read_and_slots_lost_add_up_to_slots_written(steps: list[str]) -> None:
    handles = ring_handles.create(SPEC)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    written, got = 0, []
    for step in steps:
        if step == "write":
            writer.write(block(written))
            written += 1
        elif slot := reader.read():
            got.append(int(slot.samples[0]))
    got += [int(slot.samples[0]) for slot in iter(reader.read, None)]
    assert got == sorted(set(got))
    assert len(got) + reader.lost == written
    handles.close()


@pytest.mark.process
def test_slots_reach_another_process_in_order_and_complete() -> None:
    handles = ring_handles.create(RingSpec("test", "writer", ("reader",), slots=64, frames=80))
    reader = RingReader(handles, "reader")
    count = 5000
    writer = child(
        f"""
        w = ring.RingWriter(handles)
        for n in range({count}):
            w.write(np.full(80, n % 30000, np.int16), index=n)
            if n % 16 == 0: time.sleep(0.0005)
        """,
        handles,
    )
    seen: list[int] = []
    while (slot := wait_for(reader, 5.0)) is not None:
        assert (slot.samples == slot.index % 30000).all()
        seen.append(slot.index)
        if slot.index == count - 1:
            break
    assert writer.wait(10) == 0
    assert seen == sorted(seen)
    assert len(seen) + reader.lost == count


def test_a_new_reader_begins_at_the_newest_slot() -> None:
    handles = ring_handles.create(SPEC)
    writer = RingWriter(handles)
    RingReader(handles, "reader")
    for value in range(5):
        writer.write(block(value))
    successor = RingReader(handles, "reader")
    assert successor.read() is None
    writer.write(block(5))
    slot = successor.read()
    assert slot is not None
    assert slot.samples[0] == 5


def test_a_reader_knows_whether_a_predecessor_has_read() -> None:
    handles = ring_handles.create(SPEC)
    writer, first = RingWriter(handles), RingReader(handles, "reader")
    assert not first.follows
    assert not RingReader(handles, "reader").follows, "nothing was read"
    writer.write(np.ones(SPEC.frames, np.int16), index=0)
    assert first.read() is not None
    assert RingReader(handles, "reader").follows


def test_a_reader_that_resumes_begins_where_its_predecessor_stopped() -> None:
    handles = ring_handles.create(VOICE)
    writer, first = RingWriter(handles), RingReader(handles, "reader")
    for value in range(5):
        writer.write(block(value))
    first.read()
    first.read()
    successor = RingReader(handles, "reader", resume=True)
    assert [s.samples[0] for s in iter(successor.read, None)] == [2, 3, 4]
    writer.write(block(5))
    slot = successor.read()
    assert slot is not None
    assert slot.samples[0] == 5
    assert successor.lost == 0


@pytest.mark.process
def test_a_killed_reader_does_not_block_the_writer() -> None:
    handles = ring_handles.create(SPEC)
    body = "r = ring.RingReader(handles, 'reader')\nprint(1, flush=True)\ntime.sleep(60)"
    reader = child(body, handles)
    assert reader.stdout is not None
    reader.stdout.readline()
    reader.kill()
    reader.wait()
    writer, successor = RingWriter(handles), RingReader(handles, "reader")
    for value in range(100):
        writer.write(block(value))
        slot = successor.read()
        assert slot is not None
        assert slot.samples[0] == value


@pytest.mark.process
def test_a_writer_killed_in_the_middle_of_a_slot_leaves_no_torn_slot() -> None:
    handles = ring_handles.create(SPEC)
    reader = RingReader(handles, "reader")
    RingWriter(handles).write(block(1))
    victim = child(
        """
        w = ring.RingWriter(handles)
        slot = w._slot(w._next)
        w._words[slot // 8] = 0
        w._bytes[slot + 64 : slot + 120] = b"x" * 56   # half of the samples, no fields, no wake-up
        print(1, flush=True)
        time.sleep(60)
        """,
        handles,
    )
    assert victim.stdout is not None
    victim.stdout.readline()
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    first = reader.read()
    assert first is not None
    assert first.samples[0] == 1
    assert reader.read() is None
    RingWriter(handles).write(block(2))
    slot = reader.read()
    assert slot is not None
    assert np.array_equal(slot.samples, block(2))
    assert reader.lost == 0


def test_a_slot_whose_samples_are_not_all_visible_is_not_read() -> None:
    handles = ring_handles.create(SPEC)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    writer.write(block(9))
    with mmap.mmap(handles.memory_fd, 0) as memory:  # as a weakly ordered CPU may show it
        at = ring_handles.HEADER_BYTES + ring_handles.SLOT_HEADER_BYTES
        saved = memory[at : at + 160]
        memory[at : at + 160] = bytes(160)
        assert reader.read() is None
        memory[at : at + 160] = saved
    os.eventfd_write(handles.bell_fds["reader"], 1)
    slot = reader.read()
    assert slot is not None
    assert np.array_equal(slot.samples, block(9))


def test_a_new_writer_wakes_the_readers_that_its_dead_predecessor_did_not() -> None:
    handles = ring_handles.create(SPEC)
    reader = RingReader(handles, "reader")
    writer = RingWriter(handles)
    writer.write(block(1))
    assert reader.read() is not None
    assert reader.read() is None
    writer.write(block(2))
    os.eventfd_read(handles.bell_fds["reader"])  # the writer's wake-up was lost
    assert reader.read() is None
    RingWriter(handles)
    slot = reader.read()
    assert slot is not None
    assert slot.samples[0] == 2


def test_a_full_ring_with_back_pressure_refuses_and_signals_room() -> None:
    handles = ring_handles.create(VOICE)
    writer, reader = RingWriter(handles), RingReader(handles, "reader")
    for value in range(VOICE.slots):
        writer.write(block(value))
    assert writer.room() == 0
    with pytest.raises(RingError, match="full"):
        writer.write(block(99))
    poll = select.poll()
    poll.register(writer.room_fd, select.POLLIN)
    writer.collect_room()
    assert not poll.poll(0)
    slot = reader.read()
    assert slot is not None
    assert slot.samples[0] == 0
    assert poll.poll(0)
    writer.collect_room()
    assert writer.room() == 1


def test_a_sleeping_reader_never_blocks_a_writer_without_back_pressure() -> None:
    handles = ring_handles.create(SPEC)
    writer = RingWriter(handles)
    RingReader(handles, "reader")
    for value in range(1000):
        assert writer.room() == SPEC.slots
        writer.write(block(value))
