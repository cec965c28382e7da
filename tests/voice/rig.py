"""The speaker as it ships, under the real supervisor; the test is conductor and playback."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from appliance import settings
from appliance.messages.message import BaseMessage
from appliance.messages.speech import EndAnswer, Speak, SpeakerReady
from appliance.runtime import process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.ipc.ring import END, RingReader, RingSlot
from appliance.runtime.supervisor import Supervisor


class Rig:
    """One speaker process. `slots` is what playback has read, `messages` what was told."""

    def __init__(self, state_dir: Path, **speaking: Any) -> None:
        plain = settings.load(
            Path(os.devnull),
            {"state_dir": str(state_dir), "speaking": speaking, "log": "warning"},
        )
        self.supervisor = Supervisor(plain, rows=(process_table.row("speaker"),))
        self.floor = self.supervisor.floor()
        self.mail = Channel(self.supervisor.joints.ends["speaker"][1])
        self.reader = RingReader(self.supervisor.rings["voice"], "playback")
        self.messages: list[BaseMessage] = []
        self.slots: list[RingSlot] = []
        self.supervisor.start()

    def __enter__(self) -> Rig:
        self.until(lambda: self.told(SpeakerReady), 30)
        return self

    def __exit__(self, *_: object) -> None:
        self.supervisor.stop_all()
        self.supervisor.close()

    @property
    def pid(self) -> int:
        child = self.supervisor.parts["speaker"].child
        assert child is not None
        return child.pid

    def children(self) -> set[int]:
        """The processes that the speaker has started, and that have not ended."""
        listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return {int(pid) for pid in listed}

    def voice_pid(self, name: str) -> int:
        """Of the program that speaks as `name`; 0 if there is none."""
        for pid in self.children():
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(word.endswith(f"{name}.onnx".encode()) for word in words):
                return pid
        return 0

    @property
    def frames(self) -> int:
        """Samples read so far."""
        return sum(len(slot.samples) for slot in self.slots)

    def told(self, kind: type[BaseMessage]) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kind)]

    def ended(self, turn: int) -> bool:
        return any(slot.stream == turn and slot.flags & END for slot in self.slots)

    def say(self, turn: int, *sentences: str, end: bool = True) -> None:
        """Give an answer the floor and its sentences to the speaker."""
        self.floor.turn = turn
        for number, text in enumerate(sentences):
            self.mail.send(Speak(turn, number, text))
        if end:
            self.mail.send(EndAnswer(turn))

    def until(
        self, true: Callable[[], object], within_s: float = 20.0, *, read: bool = True
    ) -> None:
        """Be conductor and, with `read`, playback, until it is so."""
        deadline = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < deadline, f"not within {within_s} s"
            fds = [self.mail.fileno()] + ([self.reader.fileno()] if read else [])
            select.select(fds, [], [], 0.02)
            self.messages += self.mail.receive_all()
            while read and (slot := self.reader.read()) is not None:
                self.slots.append(slot)
            self.supervisor.run_once(0)
