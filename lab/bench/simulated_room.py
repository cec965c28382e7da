"""A simulated room without a clock: the listener and the answer in it, as fast as the machine can.

In: sounds of the owner, noise, a room. Out: what the loudspeaker played, to the sample, and what
the machine made of it. The ear is the listener's own `HearingPipeline`; what lies between it and
the loudspeaker (rings, conductor, playback, card) is a delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from appliance.audio.sample_format import fade_in
from appliance.hear.pipeline import HearingEvent, HearingPipeline
from appliance.hear.utterance_stream import SpeechSlot
from appliance.messages.hearing import Onset, Opinion, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples, to_int16
from appliance.settings import Settings

LAG_BLOCKS = 2  # of sound already with the card when an onset is heard: with the fade, 12 ms, which
# is the p99 of the machine part on the simulated card (`interlude bench stop`)
ECHO_BLOCKS = 8  # the echo is worked out 40 ms at a time, and comes that late: a USB device's delay
THINKS_FRAMES = 6 * RATE_HZ // 10  # from the end of an interruption to the next answer
NO_ANSWER_FRAMES = 4 * RATE_HZ  # after which it talks again even if nobody has said anything
LONGEST_FRAMES = 33 * RATE_HZ  # of an utterance


class TimedEvent(NamedTuple):
    """An event of hearing, and the sample after those that had been heard."""

    at: int
    event: Onset | Opinion | Verdict | SpeechStarted | SpeechEnded


class SimulatedDevice(Protocol):
    """What sits in the room: it hears a step, and plays one."""

    stops: list[int]  # samples from which it was silent on purpose
    yields: list[int]  # samples at which it threw an answer away
    events: list[TimedEvent]

    @property
    def talking(self) -> bool:
        """It has something to say and nothing keeps it from saying it."""

    def play(self, at: int) -> Samples:
        """int16[80], which leave the loudspeaker from sample `at` on."""

    def process(self, mic: Samples, at: int) -> None:
        """int16[80] of the microphone from sample `at` on, after what was played up to there."""


class HearingInterface(Protocol):
    """What of `HearingPipeline` a box needs."""

    answering: bool | None

    def process(self, mic: Samples, played: Samples, index: int) -> Sequence[HearingEvent]: ...


class SimulatedBox:
    """Interlude: `HearingPipeline`, and around it as little as tells the truth: it falls silent
    `LAG_BLOCKS`
    and a fade after an onset, goes on from the same sample after a backchannel or a noise, and
    after an interruption drops the answer and begins another when the owner has spoken."""

    def __init__(
        self,
        talk: Samples,
        settings: Settings,
        hearing: HearingInterface | None = None,
        *,
        asked: int = 0,
        opening: Samples | None = None,
    ) -> None:
        """It says `talk` over and over, as loud as it is; not before something was said to it, or
        sample `asked`. `opening`: the sound with which it wakes up, from sample 0 on."""
        self._talk = talk
        self._opening = np.zeros(0, np.int16) if opening is None else opening  # what is left of it
        self.hearing: HearingInterface = hearing or HearingPipeline(settings.hearing)
        self._ramp = fade_in(settings.card.ramp_ms * RATE_HZ // 1000)
        self._position = 0  # in the talk, of the sample that is due
        self._hold = self._released = 0
        self._quiet_until = asked  # no answer is under way before this sample
        self._sounding = False
        self._ahead: list[Samples] = [np.zeros(BLOCK_FRAMES, np.int16)] * LAG_BLOCKS
        self._played = self._ahead[0]
        self._now = 0
        self.stops: list[int] = []
        self.yields: list[int] = []
        self.events: list[TimedEvent] = []

    @property
    def talking(self) -> bool:
        return self._answering(self._now) and self._hold <= self._released

    def _answering(self, at: int) -> bool:
        return at >= self._quiet_until or len(self._opening) > 0

    def play(self, at: int) -> Samples:
        self._now = at
        self.hearing.answering = self._answering(at)
        self._ahead.append(self._next(at + LAG_BLOCKS * BLOCK_FRAMES))
        self._played = self._ahead.pop(0)
        return self._played

    def process(self, mic: Samples, at: int) -> None:
        now = at + BLOCK_FRAMES
        for event in self.hearing.process(mic, self._played, at):
            if not isinstance(event, SpeechSlot):
                self.events.append(TimedEvent(now, event))
            self._obey(event, now)

    def _next(self, index: int) -> Samples:
        """The step that leaves the loudspeaker from `index` on."""
        block = np.zeros(BLOCK_FRAMES, np.int16)
        ramp = self._ramp
        if self.talking:
            block[:] = self._due(BLOCK_FRAMES)
            if not self._sounding:
                block[: len(ramp)] = block[: len(ramp)] * ramp
            self._sounding = True
        elif self._sounding:
            block[: len(ramp)] = self._due(len(ramp)) * ramp[::-1]
            self._sounding = False
            self.stops.append(index + len(ramp))
        return block

    def _due(self, count: int) -> Samples:
        if len(self._opening):
            head, self._opening = self._opening[:count], self._opening[count:]
            return np.pad(head, (0, count - len(head)))
        places = np.arange(self._position, self._position + count)
        self._position += count
        return self._talk.take(places, mode="wrap")

    def _obey(self, event: HearingEvent, now: int) -> None:
        match event:
            case Onset(serial):
                self._hold = serial
            case Verdict(serial, kind):
                self._released = serial
                if kind == "interruption":
                    self.yields.append(now)
                    self._opening = self._opening[:0]
                    self._quiet_until = now + NO_ANSWER_FRAMES
            case SpeechStarted(utterance):
                self._quiet_until = now + LONGEST_FRAMES
                self._released = utterance
            case SpeechEnded(last=True):
                self._quiet_until = now + THINKS_FRAMES


class EchoSimulator:
    """The loudspeaker's way to the microphone, a block of 40 ms at a time: convolution by uniform
    partitions, overlap-save (Stockham 1966; Kulp 1988), so that a long room costs little more."""

    def __init__(self, response: npt.NDArray[np.float32]) -> None:
        """`response` (taps,) is in units of int16 out for int16 in; empty: no echo."""
        n = self._frames = ECHO_BLOCKS * BLOCK_FRAMES
        count = -(-len(response) // n)
        parts = np.pad(response, (0, count * n - len(response))).reshape(count, n)
        self._parts = np.fft.rfft(parts, 2 * n, axis=1)
        self._past = np.zeros((count, n + 1), np.complex128)  # spectra of blocks, newest first
        self._last_two = np.zeros(2 * n)

    def process(self, played: Samples) -> npt.NDArray[np.float64]:
        """What of `played`, int16[640], and of all before, arrives during the next 640."""
        n = self._frames
        if not len(self._parts):
            return np.zeros(n)
        self._last_two[:n] = self._last_two[n:]
        self._last_two[n:] = played
        self._past[1:] = self._past[:-1]
        self._past[0] = np.fft.rfft(self._last_two)
        arrived: npt.NDArray[np.float64] = np.fft.irfft(
            np.einsum("pk,pk->k", self._parts, self._past)
        )[n:]
        return arrived


class RoomSession:
    """A machine in a room, from sample 0 on; sounds of the owner are put into its future."""

    def __init__(
        self,
        machine: SimulatedDevice,
        echo: EchoSimulator,
        noise: Samples,
        frames: int,
        *,
        drive: float = 0.0,
    ) -> None:
        """`noise` is repeated. `drive`: how hard the loudspeaker is pushed into tanh; 0: it is
        linear."""
        self.machine = machine
        self.played: Samples = np.zeros(frames, np.int16)
        self._near = np.zeros(frames + 30 * RATE_HZ, np.float32)
        self._echo, self._noise, self._drive = echo, noise, drive
        self.now = 0

    @property
    def ended(self) -> bool:
        return self.now + ECHO_BLOCKS * BLOCK_FRAMES > len(self.played)

    def add_sound(self, at: int, sound: npt.NDArray[np.float32]) -> None:
        """Add a sound of the owner (as it reaches the microphone, int16's scale) from `at` on."""
        room = self._near[at : at + len(sound)]
        room += sound[: len(room)]

    def advance(self) -> None:
        """40 ms pass."""
        first, frames = self.now, ECHO_BLOCKS * BLOCK_FRAMES
        before = self.played[max(0, first - frames) : first]
        arrived = self._echo.process(self._spoken(before)) if first else np.zeros(frames)
        noise = self._noise.take(np.arange(first, first + frames), mode="wrap")
        mic = arrived + noise + self._near[first : first + frames]
        heard = to_int16(mic)
        for at in range(0, frames, BLOCK_FRAMES):
            span = slice(first + at, first + at + BLOCK_FRAMES)
            self.played[span] = self.machine.play(first + at)
            self.machine.process(heard[at : at + BLOCK_FRAMES], first + at)
        self.now += frames

    def _spoken(self, played: Samples) -> Samples:
        """What leaves the cone: as played, or bent at the peaks."""
        if not self._drive:
            return played
        bent = np.tanh(played * (self._drive / 32768)) * (32768 / self._drive)
        spoken: Samples = np.rint(bent).astype(np.int16)
        return spoken
