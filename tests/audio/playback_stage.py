"""The real playback in a thread on the software card; the test can refuse single blocks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

import msgspec
import numpy as np

from appliance.audio.alsa import AlsaStream, open_stream
from appliance.audio.hotplug import StreamHousekeeping
from appliance.audio.playback import CardOutput, fade_profile
from appliance.audio.player import PlaybackEvent, Player
from appliance.errors import CardError
from appliance.messages.message import BaseMessage
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.runtime import process_table
from appliance.runtime.ipc.channel import Channel
from appliance.runtime.ipc.ring import END, START, RingReader, RingSlot, RingWriter
from appliance.runtime.supervision.ipc_resources import IpcResources
from appliance.runtime.worker import Worker
from appliance.settings import load
from lab.sim.simulated_card import SoundCard
from tests.audio.rig import VOICE_FRAMES
from tests.audio.sounds import DEEP

Refusal = Literal["dropout", "gone"]
M = TypeVar("M", bound=BaseMessage)
SINE: Samples = (12_000 * np.sin(2 * np.pi * 233 * np.arange(RATE_HZ) / RATE_HZ)).astype(np.int16)
FADED = RATE_HZ // 100  # samples at the start of a stretch that a fade may have changed
_STALL_S = 0.2  # longer than the card's buffer
_GONE_S = 0.2
_PATIENCE_S = 20.0


class _ObservedStream:
    """A card's stream that calls `before` ahead of writing each block of voice."""

    def __init__(self, stream: AlsaStream, before: Callable[[], None]) -> None:
        self._stream, self._before = stream, before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, mono: Samples) -> int:
        if mono.any():
            self._before()
        return self._stream.write(mono)


class Stage:
    """A 16 kHz card and the answer SINE as turn 1. The test plays conductor and listener."""

    def __init__(self, card: SoundCard) -> None:
        self._card = card
        self._resources = IpcResources((process_table.row("playback"),), watchers=("room",))
        wiring, _ = self._resources.for_process("playback")
        ends = msgspec.convert(wiring["channel_fds"], dict[str, int])
        wiring["channel_fds"] = {peer: os.dup(fd) for peer, fd in ends.items()}
        chosen = {"card": {"playback": "sim", **DEEP}, "speaking": {"volume": 1.0}}
        settings = msgspec.to_builtins(load(None, chosen))
        self._work = Worker("playback", {**wiring, "settings": settings, "box_started_s": 0.0})
        self.floor = self._work.floor
        self.floor.turn = 1
        self._channel = Channel(self._resources.ends["playback"][1])
        self._played = RingReader(self._resources.rings["played"], "room")
        self._hooks: list[Callable[[], None]] = [lambda: None] * (2 * len(SINE) // BLOCK_FRAMES)
        self.messages: list[BaseMessage] = []
        self.offered = 0  # number of voice blocks written to the card
        self.voiced: list[RingSlot] = []  # slots of the answer in the ring `played`
        voice = RingWriter(self._resources.rings["voice"])
        for at in range(0, len(SINE), VOICE_FRAMES):
            flags = START * (at == 0) | END * (at + VOICE_FRAMES >= len(SINE))
            voice.write(SINE[at : at + VOICE_FRAMES], position=at, stream=1, flags=flags)

    def close(self) -> None:
        self._resources.close()

    def refuse_block(
        self, at: int, refusal: Refusal | None, also: Callable[[], None] | None = None
    ) -> None:
        """Have the block of sample `at` refused once, by a dropout or by unplugging the card for a
        while. `also` is called just before the block is written."""

        def act() -> None:
            if also is not None:
                also()
            if refusal == "dropout":
                time.sleep(_STALL_S)
            elif refusal == "gone":
                self._card.unplug()
                threading.Timer(_GONE_S, self._card.plug).start()

        self._hooks[at // BLOCK_FRAMES] = act  # the card accepts the blocks before it at once

    def play(self, until: Callable[[], bool]) -> None:
        """Run until `until()` is true; fail after _PATIENCE_S."""
        thread = threading.Thread(target=self._serve)
        thread.start()
        end_s = time.monotonic() + _PATIENCE_S
        try:
            while not until():
                assert time.monotonic() < end_s, self.messages
                self._collect()
                time.sleep(0.01)
            time.sleep(0.2)  # for silence, or whatever follows
        finally:
            self._work.stop()
            thread.join()
        self._collect()

    def _serve(self) -> None:
        work, card = self._work, self._work.settings.card
        player = Player(
            work.reader("voice", resume=True).read,
            fade_profile(work.settings),
            block_frames=BLOCK_FRAMES,
            volume=1.0,
        )
        played, pulse = work.writer("played"), StreamHousekeeping(work, "playback", lambda _: None)
        while not work.stopping:
            try:
                with open_stream(
                    "sim", "playback", period_ms=card.period_ms, periods=card.periods
                ) as stream:
                    pulse.moved()
                    observed = cast("AlsaStream", _ObservedStream(stream, self._before_voice))
                    CardOutput(work, observed, player, played, pulse).serve()
            except CardError:
                work.wait(0.05)

    def _before_voice(self) -> None:
        self.offered += 1
        self._hooks.pop(0)()

    def _collect(self) -> None:
        self.messages += self._channel.receive_all()
        self.voiced += [slot for slot in iter(self._played.read, None) if slot.stream]

    def of(self, kind: type[M]) -> list[M]:
        return [message for message in self.messages if isinstance(message, kind)]

    def messages_of_the_answer(self) -> list[BaseMessage]:
        return [message for message in self.messages if isinstance(message, PlaybackEvent)]

    def runs(self) -> list[tuple[int, int, int]]:
        """Index, position and frames of each uninterrupted stretch of the answer."""
        found: list[tuple[int, int, int]] = []
        for slot in self.voiced:
            index, position, frames = found[-1] if found else (0, 0, 0)
            if found and slot.index - index == slot.position - position == frames:
                found[-1] = (index, position, frames + len(slot.samples))
            else:
                found.append((slot.index, slot.position, len(slot.samples)))
        return found

    def first_heard(self, index: int, position: int, frames: int) -> int:
        """The index at which the loudspeaker began a stretch of `runs`: `index`, or one beside it.

        The index of a restarted stream is read from the card, whose clock and whose counter are
        read one after the other (see CardClock), so it may be a sample late or early."""
        if frames <= FADED:
            return index  # all of it may be changed by the fade
        whole = SINE[position + FADED : position + frames]
        for first in (index - 1, index + 1):
            if np.array_equal(self.track(first + FADED, first + frames), whole):
                return first
        return index

    def track(self, first: int, last: int | None = None) -> Samples:
        """The samples that the loudspeaker played, by index; until now if `last` is None."""
        origin = self._card.origin_ns // 1_000_000_000 * RATE_HZ
        end = self._card.now() if last is None else last - origin
        return self._card.loudspeaker(first - origin, end - (first - origin))
