"""The conductor's handling of mute without a process: a real store, floor and dialogue."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from appliance.atomic_file import fresh_name
from appliance.dialog.actions import SetMuted
from appliance.dialog.mute_state import MuteProblem, MuteState
from appliance.dialog.mute_store import FILE, MuteStore, StoredMute, read_file
from appliance.dialog.policy import DialogPolicy
from appliance.dialog.state import DialogState
from appliance.dialog.state_machine import DialogEvent, initial_state, step
from appliance.runtime.ipc import floor
from appliance.runtime.ipc.floor import Floor
from tests.waiting import PATIENCE_S, until


class Box:
    """The conductor's handling of mute, with the real store, floor and dialogue.

    `card`: the state directory. `run`: the directory in memory, which a power cut empties.
    """

    def __init__(self, folder: Path, wait_s: float = PATIENCE_S) -> None:
        self.card, self.run = folder / "card", folder / "run"
        self.card.mkdir()
        self.run.mkdir()
        self.now_s = 100.0
        self.wait_s = wait_s
        self.complaints: list[MuteProblem] = []
        self._conductors: list[MuteState] = []
        self.boot()

    def boot(self) -> None:
        """Start a supervisor: a new floor, and a new conductor."""
        page = floor.create()
        self.floor = Floor(page)
        os.close(page)  # the mapping outlives the descriptor
        assert self.floor.microphone_off
        self.conduct()

    def look_at(self, file: Path) -> StoredMute | None:
        return read_file(file)

    def conduct(self) -> None:
        """Start a conductor on the present floor."""
        self.end_conductors()
        self.store = MuteStore(self.card / FILE, self.run, read=self.look_at)
        self.microphone = MuteState(self.floor, self.store)
        self._conductors.append(self.microphone)
        muted, off = self.microphone.start(self.now_s, self.wait_s)
        self.it: DialogState
        self.it, _ = initial_state(
            DialogPolicy(), self.now_s, turn=self.floor.turn, muted=muted, switched_off=off
        )
        self.floor.turn = self.it.turn

    def hear(self, message: DialogEvent) -> None:
        self.it, actions = step(self.it, message, self.now_s)
        for action in actions:
            if isinstance(action, SetMuted):
                self.microphone.set(self.now_s, muted=action.on)
        self.floor.turn = self.it.turn

    def look(self, after_s: float = 0.0) -> None:
        self.now_s += after_s
        for news in self.microphone.poll(self.now_s):
            if isinstance(news, MuteProblem):
                self.complaints.append(news)
            else:
                self.hear(news)

    def until(self, condition: Callable[[], object]) -> None:
        def looked() -> object:
            self.look()
            return condition()

        until(lambda: condition() or looked())

    def settle(self) -> None:
        """Wait until the disk has the last requested state, or writing has failed."""
        self.until(lambda: self.microphone._on_disk is not None or self.microphone.failing)

    def break_card(self) -> None:
        """Make every write fail, as after ext4 has gone read-only."""
        blocker = fresh_name(self.card / FILE)
        while not blocker.is_dir():  # while a write is in progress, a file has this name
            with suppress(FileExistsError):
                blocker.mkdir(parents=True)

    def end_conductors(self) -> None:
        """Stop all conductors, which write what is pending, unless the card stalls."""
        for microphone in self._conductors:
            microphone.request_stop()
            microphone.join()

    def close(self) -> None:
        self.end_conductors()
