"""What a rehearsal leaves behind: both tracks, every message, what was said and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil

from appliance.messages.registry import ObservedMessage
from appliance.pcm import Samples
from appliance.settings import Settings
from lab.sim.scene import Scene, ScriptedUtterance

T = TypeVar("T")


@dataclass(frozen=True)
class PlayedUtterance:
    """An utterance that was played. Indices are the card's: first sample, last + 1 of the sound."""

    entry: ScriptedUtterance
    onset: int
    end: int


@dataclass(frozen=True)
class ProcessCost:
    """What one process used."""

    cpu_s: float
    peak_mib: float
    restarts: int


@dataclass
class RehearsalRecording:
    """What happened. Tracks are int16, mono, 16 kHz, from card index `first` on."""

    scene: Scene
    settings: Settings
    first: int = 0
    microphone: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    loudspeaker: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    mail: list[tuple[int, ObservedMessage]] = field(
        default_factory=list
    )  # card index of its time, message
    answers: dict[int, Samples] = field(default_factory=dict)  # turn → what the speaker made
    said: list[PlayedUtterance] = field(default_factory=list)
    costs: dict[str, ProcessCost] = field(default_factory=dict)
    seconds: float = 0.0
    given_up: str = ""

    def messages_of(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """The messages of one kind, each once, with the card index of its time."""
        for index, seen in self.mail:
            if isinstance(seen.message, kind):
                yield index, seen.message


def cost_of(pid: int, restarts: int) -> ProcessCost:
    """What the process `pid` has used so far."""
    times = psutil.Process(pid).cpu_times()
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return ProcessCost(times.user + times.system, int(peak.split()[1]) / 1024, restarts)
