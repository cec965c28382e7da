"""A small model of a weakly ordered CPU on which the ring's real code runs.

The real writer's stores are recorded in program order. For the real reader's loads, the model then
chooses: a load of a word may return the value of any store to it, the newest or an older one,
unless a wake-up collected by the reader announces a newer one (the eventfd releases and acquires)
or an earlier load of the same word returned a newer one (coherence, which every CPU guarantees for
a single location). Loads of different words are unordered. `explore` tries every choice and merges
equal states of the reader between two reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from appliance.runtime.ipc import ring_handles
from appliance.runtime.ipc.ring import RingReader, RingSlot, RingWriter
from appliance.runtime.ipc.ring_handles import RingHandles


class WriterDied(Exception):
    """The writer was killed before its next store."""


@dataclass
class History:
    """The writers' actions in order: `stores[cell]` are (moment, value), `posts` are moments.

    A cell is the index of an aligned word of 8 bytes.
    """

    stores: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    posts: list[int] = field(default_factory=list)
    now: int = 0

    def store(self, cell: int, value: int) -> None:
        self.now += 1
        self.stores.setdefault(cell, [(0, 0)]).append((self.now, value))

    def post(self) -> None:
        self.now += 1
        self.posts.append(self.now)


class RecordedWriter(RingWriter):
    """The real writer, which also records its stores. It dies before store `dies_at`."""

    def __init__(self, handles: RingHandles, history: History, dies_at: int | None = None) -> None:
        self.history = history
        self._left = dies_at
        super().__init__(handles)

    def _step(self) -> None:
        if self._left is not None:
            if self._left == 0:
                raise WriterDied
            self._left -= 1

    def _store(self, word: int, value: int) -> None:
        self._step()
        super()._store(word, value)
        self.history.store(word, value)

    def _store_bytes(self, start: int, data: bytes | memoryview) -> None:
        whole = bytes(data) + bytes(-len(data) % 8)
        for at in range(0, len(whole), 8):
            self._step()
            part = whole[at : at + 8]
            super()._store_bytes(start + at, part)
            self.history.store((start + at) // 8, int.from_bytes(part, "little"))

    def _ring(self) -> None:
        self._step()
        self.history.post()


class Oracle:
    """Makes the choices along one path through the tree of choices; `paths` visits all paths."""

    def __init__(self) -> None:
        self._path: list[list[int]] = []  # the choice taken, and the number of choices
        self._at = 0

    def choose(self, count: int) -> int:
        if self._at == len(self._path):
            self._path.append([0, count])
        taken, known = self._path[self._at]
        assert known == count, "the code under test is not deterministic"
        self._at += 1
        return taken

    def paths(self) -> Iterator[None]:
        while True:
            self._at = 0
            yield
            del self._path[self._at :]
            while self._path and self._path[-1][0] + 1 == self._path[-1][1]:
                self._path.pop()
            if not self._path:
                return
            self._path[-1][0] += 1


@dataclass(frozen=True)
class State:
    """A reader between two reads: its variables, and the stores that must be visible to it.

    collected  moment of the newest collected post: all earlier stores are visible
    seen       per word, the moment of the newest store that a load returned
    """

    next: int
    ready: int
    lost: int
    mark: int
    collected: int = 0
    posts: int = 0
    seen: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The result of one path through a copy, and the stores that its loads returned."""

    slot: RingSlot | None
    seen: dict[int, int]

    def content(self) -> tuple[int, bytes] | None:
        return None if self.slot is None else (self.slot.index, self.slot.samples.tobytes())

    def restricts_less(self, other: Outcome) -> bool:
        return all(moment <= other.seen.get(word, 0) for word, moment in self.seen.items())


def _least(outcomes: list[Outcome]) -> list[Outcome]:
    """Remove outcomes for which another has the same content and restricts later loads no more."""
    retained: list[Outcome] = []
    for candidate in sorted(outcomes, key=lambda item: sum(item.seen.values())):
        content = candidate.content()
        if not any(
            other.content() == content and other.restricts_less(candidate) for other in retained
        ):
            retained.append(candidate)
    return retained


def _least_states(states: set[State]) -> set[State]:
    """Remove states for which another differs only in restricting later loads no more: whatever may
    happen from the removed one may happen from that, too."""
    alike: dict[State, list[dict[int, int]]] = {}
    for state in sorted(states, key=lambda item: sum(moment for _, moment in item.seen)):
        seen = dict(state.seen)
        retained = alike.setdefault(replace(state, seen=()), [])
        if not any(
            all(moment <= seen.get(word, 0) for word, moment in other.items()) for other in retained
        ):
            retained.append(seen)
    return {
        replace(state, seen=tuple(sorted(seen.items())))
        for state, retained in alike.items()
        for seen in retained
    }


def _loadable(stores: list[tuple[int, int]], least: int) -> list[tuple[int, int]]:
    """The stores to a word that a load may return if that at moment `least` must be visible."""
    first = max(at for at, (moment, _) in enumerate(stores) if moment <= least)
    different: dict[int, tuple[int, int]] = {}
    for moment, value in stores[first:]:
        different.setdefault(value, (moment, value))  # the oldest of equal values restricts least
    return list(different.values())


class ModelReader(RingReader):
    """The real reader, with loads and bells answered by `oracle` from `history`."""

    def __init__(self, handles: RingHandles, history: History, oracle: Oracle) -> None:
        self.history = history
        self.oracle = oracle
        self.collected = self.posts = self.mark = 0
        self.seen: dict[int, int] = {}
        self.copies = 0
        self._outcomes: dict[tuple[object, ...], list[Outcome]] = {}
        self._options: dict[tuple[int, int], list[tuple[int, int]]] = {}  # by word and moment
        self.settled = False  # all stores are visible and all wake-ups are delivered
        super().__init__(handles, "reader")

    # ── the model's answers ──────────────────────────────────────────────────────────────────
    def _load(self, word: int) -> int:
        if word == self._mark:
            return self.mark  # only this reader uses it
        return self._visible(word)

    def _store(self, word: int, value: int) -> None:
        assert word == self._mark
        self.mark = value

    def _load_bytes(self, start: int, length: int) -> bytes:
        words = range(start // 8, (start + length + 7) // 8)
        data = b"".join(self._visible(word).to_bytes(8, "little") for word in words)
        return data[:length]

    def _collect_bell(self) -> int:
        left = len(self.history.posts) - self.posts
        count = left if self.settled else self.oracle.choose(left + 1)
        self.posts += count
        if count:
            self.collected = self.history.posts[self.posts - 1]
        return count

    def _copy(self, slot: int) -> RingSlot | None:
        """One of the outcomes of the real `_copy`, whose paths are explored separately.

        Thousands of torn copies end in the same refusal. Of equal outcomes, the ones that
        restrict later loads least are retained.
        """
        if self.settled:
            return self.copy_once(slot)
        before = self.seen
        key = (self._next, self.collected, frozenset(before.items()))
        possible = self._outcomes.get(key)
        if possible is None:
            outer, self.oracle = self.oracle, Oracle()
            outcomes: list[Outcome] = []
            for _ in self.oracle.paths():
                self.seen = dict(before)
                self.copies += 1
                outcomes.append(Outcome(self.copy_once(slot), self.seen))
            possible = self._outcomes[key] = _least(outcomes)
            self.oracle = outer
        chosen = possible[self.oracle.choose(len(possible)) if len(possible) > 1 else 0]
        self.seen = dict(chosen.seen)
        return chosen.slot

    def copy_once(self, slot: int) -> RingSlot | None:
        """The real `_copy`; tests override it with weaker ones."""
        return super()._copy(slot)

    def _stores(self, word: int) -> list[tuple[int, int]]:
        return self.history.stores.get(word, [(0, 0)])

    def _visible(self, word: int) -> int:
        if self.settled:
            return self._stores(word)[-1][1]
        least = max(self.collected, self.seen.get(word, 0))
        options = self._options.get((word, least))
        if options is None:
            options = self._options[word, least] = _loadable(self._stores(word), least)
        chosen = self.oracle.choose(len(options)) if len(options) > 1 else 0
        moment, value = options[chosen]
        if moment > least:
            self.seen[word] = moment
        return value

    # ── between two reads ────────────────────────────────────────────────────────────────────
    def state(self) -> State:
        seen = tuple(sorted(item for item in self.seen.items() if item[1] > self.collected))
        return State(
            self._next, self._ready, self.lost, self.mark, self.collected, self.posts, seen
        )

    def restore(self, state: State) -> None:
        self._next, self._ready, self.lost = state.next, state.ready, state.lost
        self.mark, self.collected, self.posts = state.mark, state.collected, state.posts
        self.seen = dict(state.seen)
        self.settled = False


@dataclass
class Found:
    """The result of an exploration: its size, and the faults found on any path."""

    states: int = 0
    copies: int = 0
    read: set[int] = field(default_factory=set)  # slots returned on some path
    wrong: set[str] = field(default_factory=set)


def write(writer: RingWriter, number: int) -> None:
    """Write slot `number`, whose index and samples are `number` + 1."""
    writer.write(np.full(4, number + 1, np.int16), index=number + 1, stamp_ns=0)


def explore(
    history: History,
    handles: RingHandles,
    reader: Callable[[RingHandles, History, Oracle], ModelReader] = ModelReader,
    reads: int = 3,
) -> Found:
    """Explore every course of `reads` calls of `read`. From each state, check the end: once all
    stores are visible and all wake-ups collected, the reader must reach the newest slot."""
    found = Found()
    written = max(value for _, value in history.stores[ring_handles.HEAD])
    oracle = Oracle()
    states = {reader(handles, history, oracle).state() for _ in oracle.paths()}
    known = set(states)
    subject = reader(handles, history, Oracle())
    for _ in range(reads):
        after = set()
        for state in states:
            subject.oracle = Oracle()
            for _ in subject.oracle.paths():
                subject.restore(state)
                _check(subject.read(), state.next, found)
                after.add(subject.state())
        states = _least_states(after | known) - known
        known |= states
    for state in known:
        subject.restore(state)
        subject.settled = True
        expected = state.next
        while (slot := subject.read()) is not None:
            _check(slot, expected, found)
            expected = slot.sequence + 1
        if subject.state().next != written:
            found.wrong.add(f"stopped at {subject.state().next} of {written}, from {state}")
    found.states, found.copies = len(known), subject.copies
    return found


def _check(slot: RingSlot | None, expected: int, found: Found) -> None:
    if slot is None:
        return
    found.read.add(slot.sequence)
    if slot.sequence < expected:
        found.wrong.add(f"slot {slot.sequence} was read again")
    if slot.index != slot.sequence + 1 or (slot.samples != slot.index).any():
        what = f"index {slot.index}, samples {slot.samples.tolist()}"
        found.wrong.add(f"slot {slot.sequence} was returned with {what}")
