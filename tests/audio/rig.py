"""The real capture and playback on a software card; the test plays conductor and listener."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from appliance import pcm, settings
from appliance.messages.message import BaseMessage
from appliance.pcm import Samples
from appliance.runtime import process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.ipc.ring import END, START, RingReader, RingSlot, RingWriter
from appliance.runtime.supervisor import Supervisor
from lab.sim.alsa_plugin import alsa_environment
from lab.sim.launchers import launcher_for
from lab.sim.simulated_card import SoundCard

RATE_HZ = pcm.RATE_HZ
VOICE_FRAMES = 320
SHM = Path("/dev/shm")  # noqa: S108  # a tmpfs; file names contain the process id
M = TypeVar("M", bound=BaseMessage)


class Rig:
    """The two processes under the real supervisor. `index(n)`: the sample index of card frame n."""

    def __init__(self, card: SoundCard, folder: Path, card_settings: Mapping[str, Any]) -> None:
        self.card = card
        chosen = {"capture": "sim", "playback": "sim", **card_settings}
        volume = chosen.pop("volume", 1.0)
        plain = settings.load(
            Path(os.devnull), {"card": chosen, "speaking": {"volume": volume}, "log": "warning"}
        )
        rows = tuple(process_table.row(name) for name in ("playback", "capture"))
        environment = {**os.environ, **alsa_environment(folder, {"sim": card.path})}
        self.supervisor = Supervisor(
            plain,
            rows=rows,
            watchers=("room",),
            environment=environment,
            launcher=launcher_for(environment),
        )
        self.floor = self.supervisor.floor()
        self.floor.muted = False  # no conductor is running to restore it
        self._mail = {
            name: Channel(self.supervisor.ipc.ends[name][1]) for name in ("capture", "playback")
        }
        self.messages: list[BaseMessage] = []
        self.voice = RingWriter(self.supervisor.rings["voice"])
        self.played = RingReader(self.supervisor.rings["played"], "room")
        self.mic = RingReader(self.supervisor.rings["mic"], "room")
        self.mic_slots: list[RingSlot] = []
        self.played_slots: list[RingSlot] = []
        self._answer: list[tuple[Samples, int, int, int]] = []
        self._poll = select.poll()
        for end in (self._mail["capture"], self._mail["playback"], self.played, self.mic):
            self._poll.register(end.fileno(), select.POLLIN)

    @property
    def origin(self) -> int:
        """The index of the card's frame 0 (a whole second of CLOCK_MONOTONIC, so it is exact)."""
        return self.card.origin_ns // 1_000_000_000 * RATE_HZ

    def now(self) -> int:
        return time.monotonic_ns() * RATE_HZ // 1_000_000_000

    def send(self, message: BaseMessage, *parts: str) -> None:
        """Send a message to playback, or to `parts`."""
        for part in parts or ("playback",):
            self._mail[part].send(message)  # type: ignore[arg-type]  # Record: any message

    def say(self, turn: int, answer: Samples, *, end: bool = True, position: int = 0) -> None:
        """Write an answer to the voice ring as the speaker does, whenever there is room."""
        for at in range(0, len(answer), VOICE_FRAMES):
            piece = answer[at : at + VOICE_FRAMES]
            last = end and at + VOICE_FRAMES >= len(answer)
            flags = START * (position + at == 0) | END * last
            self._answer.append((piece, position + at, turn, flags))
        self.step(0)

    def fresh(self) -> int:
        """Start a new turn with empty lists. Returns the turn."""
        self.floor.turn += 1
        self.floor.released = self.floor.hold
        self.floor.muted = False
        self._answer.clear()
        self.run(0.1)
        for seen in (self.messages, self.mic_slots, self.played_slots):
            seen.clear()
        return self.floor.turn

    def step(self, wait_s: float = 0.02) -> None:
        """Collect messages and slots, and write the pieces of the answer that fit."""
        self._poll.poll(wait_s * 1000)
        while self._answer and self.voice.room() > 0:
            piece, position, turn, flags = self._answer.pop(0)
            self.voice.write(piece, position=position, stream=turn, flags=flags)
        self.supervisor.run_once(0)
        for channel in self._mail.values():
            self.messages.extend(channel.receive_all())
        self.mic_slots.extend(iter(self.mic.read, None))
        self.played_slots.extend(iter(self.played.read, None))

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()

    def wait(self, kind: type[M], count: int = 1, timeout_s: float = 20.0, **fields: object) -> M:
        """Wait for the `count`-th message of that kind with those fields."""
        found: list[M] = []
        self.until(lambda: len(found := self.of(kind, **fields)) >= count, timeout_s, kind.__name__)
        found = self.of(kind, **fields)
        return found[count - 1]

    def of(self, kind: type[M], **fields: object) -> list[M]:
        return [
            m
            for m in self.messages
            if isinstance(m, kind) and all(getattr(m, k) == v for k, v in fields.items())
        ]

    def until(self, true: Callable[[], bool], timeout_s: float = 20.0, what: str = "") -> None:
        end = time.monotonic() + timeout_s
        while not true():
            assert time.monotonic() < end, f"timeout waiting for {what}; got {self.messages}"
            self.step()

    def hear(self, last: int) -> None:
        """Wait until the ring `mic` has reached index `last`."""
        self.until(lambda: any(slot.index > last for slot in self.mic_slots[-1:]), what="mic")

    def track(self, first: int, last: int) -> Samples:
        """The loudspeaker's samples from index `first` to `last`, at the card's rate."""
        factor = self.card.rate_hz // RATE_HZ
        self.until(lambda: self.card.now() >= (last - self.origin) * factor)
        return self.card.loudspeaker((first - self.origin) * factor, (last - first) * factor)


@contextlib.contextmanager
def rig_on(
    folder: Path, *, rate_hz: int = RATE_HZ, started: bool = True, **card_settings: Any
) -> Iterator[Rig]:
    """A rig on a new card. Options not for SoundCard.create are card settings (or `volume`)."""
    made = {
        key: card_settings.pop(key)
        for key in ("echo", "echo_delay", "granularity_frames")
        if key in card_settings
    }
    path = SHM / f"interlude-test-{os.getpid()}-{folder.name}"
    with SoundCard.create(path, rate_hz, **made) as card:
        rig = Rig(card, folder, card_settings)
        rig.supervisor.start()
        try:
            if started:
                rig.until(lambda: rig.supervisor.is_ready, what="ready")
                rig.until(lambda: bool(rig.mic_slots and rig.played_slots), what="sound")
            yield rig
        finally:
            rig.supervisor.stop_all()
            rig.supervisor.close()


def reflex(rig: Rig, loud: int, stop: threading.Event) -> threading.Thread:
    """A substitute for the listener: raises `hold` at the slot in which a sample reaches `loud`."""
    mic_reader = RingReader(rig.supervisor.rings["mic"], "listener")

    def listen() -> None:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        poll = select.poll()
        poll.register(mic_reader.fileno(), select.POLLIN)
        while not stop.is_set():
            poll.poll(200)
            while (slot := mic_reader.read()) is not None:
                if not rig.floor.held and np.abs(slot.samples.astype(np.int32)).max() >= loud:
                    rig.floor.hold += 1

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    return thread


def noise(frames: int, seed: int = 1, low: int = 2000, high: int = 8000) -> Samples:
    """Random samples of both signs and above `low`, so that neighbours can be told apart."""
    rng = np.random.default_rng(seed)
    samples: Samples = rng.integers(low, high, frames).astype(np.int16)
    samples *= rng.choice(np.array([-1, 1], np.int16), frames)
    return samples
