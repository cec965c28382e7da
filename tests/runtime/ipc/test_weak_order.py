"""The ring's code on a modelled weakly ordered CPU, with every order in which stores may arrive."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from appliance.runtime.ipc import ring, ring_handles
from appliance.runtime.ipc.ring import RingSlot
from appliance.runtime.ipc.ring_handles import RingHandles, RingSpec
from tests.runtime.ipc.weak_order import (
    History,
    ModelReader,
    Oracle,
    RecordedWriter,
    WriterDied,
    explore,
    write,
)

SPEC = RingSpec("model", "writer", ("reader",), slots=2, frames=4)


def written(count: int) -> tuple[History, RingHandles]:
    """The stores of a writer that writes `count` slots into a ring of two."""
    history, handles = History(), ring_handles.create(SPEC)
    writer = RecordedWriter(handles, history)
    for number in range(count):
        write(writer, number)
    return history, handles


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.long
def test_no_order_of_stores_yields_a_torn_stale_or_repeated_slot(count: int) -> None:
    history, handles = written(count)
    found = explore(history, handles)
    handles.close()
    assert not found.wrong
    assert found.read == set(range(count))


@pytest.mark.process
def test_a_new_writer_recovers_from_a_crash_before_any_store() -> None:
    reached = 0
    for dies_at in itertools.count(1):
        history, handles = History(), ring_handles.create(SPEC)
        first = RecordedWriter(handles, history, dies_at)
        try:
            for number in range(3):
                write(first, number)
        except WriterDied:
            successor = RecordedWriter(handles, history)
            for number in range(successor._next, 3):
                write(successor, number)
            found = explore(history, handles, reads=2)
            assert not found.wrong
            reached += 1
        else:
            break
        finally:
            handles.close()
    assert reached > 20


class SequenceNotInCrc(ModelReader):
    """A reader whose CRC omits the sequence number, so that any lap of the slot passes."""

    def copy_once(self, slot: int) -> RingSlot | None:
        slot_of = self._next
        rest, payload = self._load_bytes(slot + 8, ring._REST_BYTES), self._load_bytes(slot + 64, 8)
        laps = [(slot_of + 1 + lap * SPEC.slots).to_bytes(8, "little") for lap in range(3)]
        passes = any(ring._crc(lap + rest[:-4], payload) == _crc_of(rest) for lap in laps)
        if not passes or self._load(slot // 8) != slot_of + 1:
            return None
        return _slot(slot_of, rest, payload)


class NoCrc(ModelReader):
    """A reader that trusts the sequence word, loaded before and after the copy."""

    def copy_once(self, slot: int) -> RingSlot | None:
        rest, payload = self._load_bytes(slot + 8, ring._REST_BYTES), self._load_bytes(slot + 64, 8)
        if self._load(slot // 8) != self._next + 1:
            return None
        return _slot(self._next, rest, payload)


def _crc_of(rest: bytes) -> int:
    return int.from_bytes(rest[-4:], "little")


def _slot(sequence: int, rest: bytes, payload: bytes) -> RingSlot:
    index = int.from_bytes(rest[:8], "little")
    return RingSlot(sequence, index, 0, 0, 0, 0, np.frombuffer(payload, np.int16))


class NoBarrier(ModelReader):
    """A wake-up without a memory barrier: the announced stores may not be visible yet."""

    def _collect_bell(self) -> int:
        count = super()._collect_bell()
        if not self.settled:
            self.collected = 0
        return count


@pytest.mark.parametrize("reader", [SequenceNotInCrc, NoCrc])
def test_the_model_finds_the_fault_of_a_weaker_check(reader: type[ModelReader]) -> None:
    history, handles = written(3)
    found = explore(history, handles, reader, reads=1)
    handles.close()
    assert any("was returned with" in problem for problem in found.wrong)


class BellBeforeSlot(RecordedWriter):
    """A writer that posts the bells before the sequence word."""

    def _store(self, word: int, value: int) -> None:
        if value and word >= ring_handles.HEADER_BYTES // 8:
            super()._ring()
        super()._store(word, value)

    def _ring(self) -> None:
        if not self.history.posts:
            super()._ring()  # the wake-up at its start


def test_the_model_finds_a_reader_that_would_wait_forever() -> None:
    history, handles = History(), ring_handles.create(SPEC)
    writer = BellBeforeSlot(handles, history)
    write(writer, 0)
    found = explore(history, handles, reads=2)
    handles.close()
    assert any(problem.startswith("stopped at 0 of 1") for problem in found.wrong)


def test_without_a_barrier_no_slot_has_wrong_content() -> None:
    history, handles = written(3)
    found = explore(history, handles, NoBarrier, reads=2)
    handles.close()
    assert not any("was returned with" in problem for problem in found.wrong)


def test_a_modelled_load_returns_any_store_not_superseded_by_a_wake_up() -> None:
    history, handles = written(3)
    subject = ModelReader(handles, history, Oracle())
    subject.oracle = oracle = Oracle()
    first = ring_handles.HEADER_BYTES // 8  # the sequence word of slots 0 and 2
    seen: dict[int, set[int]] = {}
    for _ in oracle.paths():
        subject.collected = subject.posts = 0
        subject.seen.clear()
        bells = subject._collect_bell()
        seen.setdefault(bells, set()).add(subject._load(first))
    handles.close()
    assert seen[0] == {0, 1, 3}
    assert seen[2] == {1, 0, 3}  # the first post is from the writer's start
    assert seen[4] == {3}
