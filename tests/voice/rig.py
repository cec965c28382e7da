"""Runs the speaker under the real supervisor; the test acts as conductor and playback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from appliance import settings
from appliance.messages.commands import VoicesAvailable
from appliance.messages.message import BaseMessage
from appliance.messages.speech import EndAnswer, Speak, SpeakerReady
from appliance.runtime.ipc.ring import END, RingReader, RingSlot
from tests.supervised import SupervisedPart

LOADS_S = 90.0  # time to load a voice on a busy machine


class Rig(SupervisedPart):
    """One speaker process. `slots`: what playback has read; `messages`: what the speaker sent."""

    def __init__(self, state_dir: Path, language: str = "auto", **speaking: Any) -> None:
        plain = settings.load(
            Path(os.devnull),
            {
                "state_dir": str(state_dir),
                "language": language,
                "speaking": speaking,
                "log": "warning",
            },
        )
        super().__init__("speaker", plain)
        self.reader = RingReader(self.supervisor.rings["voice"], "playback")
        self.slots: list[RingSlot] = []
        self.reads = True
        self.supervisor.start()

    def __enter__(self) -> Rig:
        self.until(lambda: self.told(SpeakerReady), 30)
        return self

    def children(self) -> set[int]:
        """The running child processes of the speaker."""
        listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return {int(pid) for pid in listed}

    def voice_pid(self, name: str) -> int:
        """The process id of the program of voice `name`; 0 if there is none."""
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

    def until_it_speaks(self, name: str) -> None:
        """Wait until the voice `name` speaks; on a busy machine it is ready late."""
        self.until(lambda: self.told(SpeakerReady)[-1] == SpeakerReady(name), LOADS_S)

    def until_it_offers(self, voices: tuple[str, ...]) -> None:
        """Wait until exactly these voices are reported as available."""
        wanted = [VoicesAvailable(voices)]
        self.until(lambda: self.told(VoicesAvailable)[-1:] == wanted, LOADS_S)

    def ended(self, turn: int) -> bool:
        return any(slot.stream == turn and slot.flags & END for slot in self.slots)

    def say(self, turn: int, *sentences: str, end: bool = True) -> None:
        """Set the floor to this answer and send its sentences to the speaker."""
        self.floor.turn = turn
        for number, text in enumerate(sentences):
            self.mail.send(Speak(turn, number, text))
        if end:
            self.mail.send(EndAnswer(turn))

    def awaited(self) -> list[int]:
        return [*super().awaited(), *([self.reader.fileno()] if self.reads else [])]

    def poll(self) -> list[BaseMessage]:
        """Act as the conductor and, if it `reads`, as playback."""
        while self.reads and (slot := self.reader.read()) is not None:
            self.slots.append(slot)
        return super().poll()  # after the sound, so that earlier reports have arrived
