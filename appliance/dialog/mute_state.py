"""Keeps the floor's `muted`, its stored value and the owner's requests consistent.

In: decisions of the state machine, the panel's words on the floor, results of the store. Out:
events for the state machine, and problems for the owner. Mute is written to the floor first, then
to the disk; a value that is unknown or unreadable counts as muted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from appliance.dialog.mute_store import MuteStore, MuteWriteResult, StoredMute
from appliance.language.catalogue import BoxSentence
from appliance.messages.commands import Mute, MuteSwitched
from appliance.runtime.ipc.floor import Floor
from appliance.settings import Settings

READ_S = 1.0  # longest wait for the stored value at the start; a good card answers in milliseconds
LATE_S = 10.0  # after this a card counts as broken; one that merely stalls takes 5 s


@dataclass(frozen=True)
class MuteProblem:
    """A fault of the store, or its end. `log`: log line. `aloud`: announcement; None: its end."""

    log: str
    aloud: BoxSentence | None = None


MicrophoneNews = Mute | MuteSwitched | MuteProblem


class MuteState:
    """Mute, for the lifetime of one conductor. Times are of one monotonic clock, in seconds.

    `failing`: the owner's last setting is not on the disk.
    """

    def __init__(self, floor: Floor, store: MuteStore) -> None:
        self._floor = floor
        self._store = store
        self._closed = floor.opened  # the newest `closed` that was reported to the state machine
        self._cut = floor.cut
        self._read_since_s: float | None = None  # the stored value is awaited since then
        self._write_since_s: float | None = None  # the result of a write is awaited since then
        self._on_disk: bool | None = None  # the value that is known to be on the disk
        self._problem: MuteProblem | None = None
        self.failing = False

    def fileno(self) -> int:
        """Readable when `poll` has news."""
        return self._store.fileno()

    def start(self, now_s: float, wait_s: float = READ_S) -> tuple[bool, bool]:
        """Whether the microphone is muted, and whether the switch cuts it, at the start of the
        conductor. Takes `wait_s` at most."""
        if not self._floor.mute_unknown:  # an earlier conductor has set it
            return self._floor.muted, self._cut
        found = self._store.stored(wait_s)
        if found is None:
            self._read_since_s = now_s
            return True, self._cut
        self._apply_stored(found)
        return found.muted, self._cut

    def set(self, now_s: float, *, muted: bool) -> None:
        """Mute or unmute on the owner's request."""
        self._read_since_s = None
        self._floor.muted = muted
        if not muted:
            self._floor.opened = self._closed
        if muted != self._on_disk:
            self._write(muted)
            self._write_since_s = now_s

    def pop_press_mute(self) -> bool:
        """Whether a long press has muted since the last call."""
        closed = self._floor.closed
        if closed == self._closed:
            return False
        self._closed = closed
        return True

    def poll(self, now_s: float) -> Iterator[MicrophoneNews]:
        """Yields changes: events for the state machine, and problems for the owner. The caller
        must act on each one before it takes the next."""
        for item in self._store.pop_news():
            if isinstance(item, StoredMute):
                yield from self._on_read(item)
            else:
                yield from self._on_written(item)
        yield from self._check_timeouts(now_s)
        if self._problem is not None:
            yield self._problem
            self._problem = None
        if self.pop_press_mute():
            yield Mute(on=True)
        if self._floor.cut != self._cut:
            self._cut = not self._cut
            yield MuteSwitched(self._cut)

    def request_stop(self) -> None:
        """Start to write what is pending. Returns at once."""
        self._store.request_stop()

    def join(self) -> None:
        """After `request_stop`: wait for the write, with a short limit."""
        self._store.join()

    def _write(self, muted: bool) -> None:
        self._on_disk = None
        self._store.store(muted=muted)

    def _apply_stored(self, found: StoredMute) -> None:
        self._floor.muted = found.muted
        if found.problem:
            self._stay_muted(found.problem)

    def _stay_muted(self, problem: str) -> None:
        self._floor.muted = True
        self.failing = True
        self._problem = MuteProblem(
            f"the microphone stays muted: {problem}", BoxSentence("mute-not-read")
        )

    def _on_read(self, found: StoredMute) -> Iterator[MicrophoneNews]:
        """Handle the stored value, which comes once; after the start if the card was slow."""
        if self._read_since_s is not None:
            self._read_since_s = None
            self._apply_stored(found)
            if not found.muted:
                yield Mute(on=False)
        if found.on_disk and found.muted == self._floor.muted:
            if self._write_since_s is None:
                self._on_disk = found.muted
        else:  # a file is damaged, or is older than the current setting
            self._write(self._floor.muted)

    def _on_written(self, result: MuteWriteResult) -> Iterator[MicrophoneNews]:
        reported, self._write_since_s = self._write_since_s is None, None
        if not result.problem:
            self._on_disk = result.muted
            if self.failing:
                self.failing = False
                yield MuteProblem("mute is stored again")
            return
        self.failing = True
        if not reported:
            yield _write_problem(result)

    def _check_timeouts(self, now_s: float) -> Iterator[MicrophoneNews]:
        """Report a card that has not answered for LATE_S like one that fails."""
        if self._read_since_s is not None and now_s - self._read_since_s > LATE_S:
            self._read_since_s = None
            self._stay_muted("the disk does not answer")
        if self._write_since_s is not None and now_s - self._write_since_s > LATE_S:
            self._write_since_s, self.failing = None, True
            slow = MuteWriteResult(
                self._floor.muted, "the disk does not answer", self._store.in_memory
            )
            yield _write_problem(slow)


def _write_problem(result: MuteWriteResult) -> MuteProblem:
    aloud = BoxSentence("mute-on-not-kept")
    if result.muted:
        after = "power-cut" if result.in_memory else "restart"
        aloud = BoxSentence.of("mute-off-not-kept", after=after)
    on_or_off = "on" if result.muted else "off"
    return MuteProblem(f"mute {on_or_off} is not stored: {result.problem}", aloud)


def may_unmute(settings: Settings, peer: str) -> bool:
    """Whether the settings allow process `peer` to unmute."""
    allowed = {"link": settings.link.unmute, "page": settings.page.unmute}
    return allowed.get(peer, True)
