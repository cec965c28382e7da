"""The recording of a rehearsal: both tracks, every message, the utterances, the process costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil

from appliance.messages.registry import ObservedMessage
from appliance.pcm import Samples, to_int16
from appliance.settings import Settings
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.speech_source import OwnerSound

T = TypeVar("T")


@dataclass(frozen=True)
class PlayedUtterance:
    """An utterance that was played. `onset`: card index of the first sample of the sound; `end`:
    of the last + 1. `sound`: as at the microphone."""

    entry: ScriptedUtterance
    onset: int
    end: int
    sound: OwnerSound = OwnerSound(np.zeros(0, np.int16), 0, 0)  # noqa: RUF009 -- frozen


@dataclass(frozen=True)
class ProcessCost:
    """CPU time, peak memory and restarts of one process."""

    cpu_s: float
    peak_mib: float
    restarts: int


@dataclass
class RehearsalRecording:
    """The recording. Tracks are int16, mono, 16 kHz, from card index `first` on.

    `given_up`: why the scene did not reach its end; "" if it did.
    """

    scene: Scene
    settings: Settings
    first: int = 0
    microphone: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    loudspeaker: Samples = field(default_factory=lambda: np.zeros(0, np.int16))
    mail: list[tuple[int, ObservedMessage]] = field(
        default_factory=list
    )  # card index of the message's time, message
    answers: dict[int, Samples] = field(default_factory=dict)  # turn → samples of ring `voice`
    said: list[PlayedUtterance] = field(default_factory=list)
    costs: dict[str, ProcessCost] = field(default_factory=dict)
    seconds: float = 0.0
    given_up: str = ""

    def tracks(self, first: int, last: int) -> Samples:
        """The track indices from `first` to `last`, int16 (frames, 2): the owner alone, without
        echo and noise, and the loudspeaker."""
        owner = np.zeros(len(self.loudspeaker), np.float64)
        for played in self.said:
            at = played.onset - played.sound.onset - self.first
            target = owner[at : at + len(played.sound.samples)]
            target += played.sound.samples[: len(target)]
        return np.stack([to_int16(owner)[first:last], self.loudspeaker[first:last]], axis=1)

    def messages_of(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """The messages of one class, each once, with the card index of its time."""
        for index, seen in self.mail:
            if isinstance(seen.message, kind):
                yield index, seen.message


def cost_of(pid: int, restarts: int) -> ProcessCost:
    """The cost of the process `pid` so far."""
    times = psutil.Process(pid).cpu_times()
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return ProcessCost(times.user + times.system, int(peak.split()[1]) / 1024, restarts)
