"""Simulates a room and a talking box in one process, faster than real time.

In: sounds of the owner, noise, a room. Out: the loudspeaker's track, exact to the sample, and the
device's events. Hearing is the listener's own `HearingPipeline`; the path from there to the
loudspeaker (rings, conductor, playback, card) is modelled as a delay.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from appliance.audio.sample_format import fade_in
from appliance.dialog.policy import DialogPolicy
from appliance.hear.bargein.murmur_judge import MurmurJudge
from appliance.hear.bargein.murmur_network import MurmurNetwork
from appliance.hear.network_judge import DirectJudge
from appliance.hear.pipeline import HearingEvent, HearingPipeline
from appliance.hear.utterance_stream import SpeechSlot
from appliance.messages.hearing import Onset, Opinion, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples, to_int16
from appliance.settings import Settings

LAG_BLOCKS = 2  # already written to the card when an onset is detected: with the fade 12 ms, the
# p99 of the machine part on the simulated card (`interlude bench stop`)
ECHO_BLOCKS = 8  # the echo is computed in chunks of 40 ms and arrives that late, as with USB audio
THINKS_FRAMES = 6 * RATE_HZ // 10  # from the end of an interruption to the next answer
NO_ANSWER_FRAMES = 4 * RATE_HZ  # after an interruption without speech the next answer starts then
# From the verdict "interruption" until the answer is dropped, as `DialogPolicy.yield_s`.
YIELD_FRAMES = round(DialogPolicy().yield_s * RATE_HZ)
LONGEST_FRAMES = 33 * RATE_HZ  # limit of an utterance


@functools.cache
def _murmur_network() -> MurmurNetwork:
    return MurmurNetwork()


def direct_judge() -> MurmurJudge:
    """A judge of murmurs that answers at once, with the one network of this process."""
    network = _murmur_network()
    return MurmurJudge(DirectJudge(network.scores), network.thresholds)


class TimedEvent(NamedTuple):
    """An event of the hearing pipeline, and the index after the last sample processed by then."""

    at: int
    event: Onset | Opinion | Verdict | SpeechStarted | SpeechEnded


class SimulatedDevice(Protocol):
    """A device in the simulated room: it plays a block of 5 ms and processes one, in turns."""

    stops: list[int]  # sample indices from which it was silent on purpose
    yields: list[int]  # sample indices at which it dropped an answer
    events: list[TimedEvent]

    @property
    def talking(self) -> bool:
        """Whether an answer is due and playback is not held."""

    def play(self, at: int) -> Samples:
        """The block int16[80] that the loudspeaker plays from sample `at` on."""

    def process(self, mic: Samples, at: int) -> None:
        """Process int16[80] of the microphone from sample `at` on; `play(at)` was called before."""


class HearingInterface(Protocol):
    """The part of `HearingPipeline` that `SimulatedBox` uses."""

    answering: bool | None

    def process(self, mic: Samples, played: Samples, index: int) -> Sequence[HearingEvent]: ...


class SimulatedBox:
    """Interlude as a model: `HearingPipeline` and a minimal player.

    It falls silent `LAG_BLOCKS` and a fade after an onset. After a backchannel or a noise it
    resumes at the same sample; after an interruption it drops the answer and starts another one
    when the owner has finished speaking."""

    def __init__(
        self,
        talk: Samples,
        settings: Settings,
        hearing: HearingInterface | None = None,
        *,
        asked: int = 0,
        opening: Samples | None = None,
    ) -> None:
        """Plays `talk` in a loop, unscaled, from sample `asked` on or once the owner has spoken.
        `opening`: the start-up sound, played from sample 0 on."""
        self._talk = talk
        self._opening = np.zeros(0, np.int16) if opening is None else opening  # its unplayed rest
        self.hearing: HearingInterface = hearing or HearingPipeline(
            settings.hearing, murmurs=direct_judge()
        )
        self._ramp = fade_in(settings.card.ramp_ms * RATE_HZ // 1000)
        self._position = 0  # index in the talk of the next sample
        self._hold = self._released = 0
        self._yielding = self._yield_at = 0  # the serial to which an answer gives way, and when
        self._quiet_until = asked  # no answer is due before this sample
        self._sounding = False
        self._delay_line: list[Samples] = [np.zeros(BLOCK_FRAMES, np.int16)] * LAG_BLOCKS
        self._played = self._delay_line[0]
        self._now = 0
        self.stops: list[int] = []
        self.yields: list[int] = []
        self.events: list[TimedEvent] = []

    @property
    def talking(self) -> bool:
        held = self._yielding or self._hold > self._released
        return self._answering(self._now) and not held

    def _answering(self, at: int) -> bool:
        return at >= self._quiet_until or len(self._opening) > 0

    def play(self, at: int) -> Samples:
        self._now = at
        self.hearing.answering = self._answering(at)
        self._delay_line.append(self._next(at + LAG_BLOCKS * BLOCK_FRAMES))
        self._played = self._delay_line.pop(0)
        return self._played

    def process(self, mic: Samples, at: int) -> None:
        now = at + BLOCK_FRAMES
        if now >= self._yield_at:
            self._give_way(now)
        for event in self.hearing.process(mic, self._played, at):
            if not isinstance(event, SpeechSlot):
                self.events.append(TimedEvent(now, event))
            self._handle(event, now)

    def _next(self, index: int) -> Samples:
        """The block that the loudspeaker plays from `index` on."""
        block = np.zeros(BLOCK_FRAMES, np.int16)
        ramp = self._ramp
        if self.talking:
            block[:] = self._next_samples(BLOCK_FRAMES)
            if not self._sounding:
                block[: len(ramp)] = block[: len(ramp)] * ramp
            self._sounding = True
        elif self._sounding:
            block[: len(ramp)] = self._next_samples(len(ramp)) * ramp[::-1]
            self._sounding = False
            self.stops.append(index + len(ramp))
        return block

    def _next_samples(self, count: int) -> Samples:
        if len(self._opening):
            head, self._opening = self._opening[:count], self._opening[count:]
            return np.pad(head, (0, count - len(head)))
        indices = np.arange(self._position, self._position + count)
        self._position += count
        return self._talk.take(indices, mode="wrap")

    def _handle(self, event: HearingEvent, now: int) -> None:
        match event:
            case Onset(serial):
                self._hold = serial
            case Verdict(serial, kind):
                self._released = serial
                if kind != "interruption" and self._yielding == serial:  # taken back
                    self._yielding, self._quiet_until = 0, now
                elif kind == "interruption":
                    self._yielding, self._yield_at = serial, now + YIELD_FRAMES
                    self._quiet_until = now + YIELD_FRAMES + NO_ANSWER_FRAMES
            case SpeechStarted() if self._yielding:
                self._quiet_until = now + LONGEST_FRAMES
            case SpeechStarted(utterance):
                self._quiet_until = now + LONGEST_FRAMES
                self._released = utterance
            case SpeechEnded(last=True) if self._quiet_until > now:
                self._give_way(now)
                self._quiet_until = now + THINKS_FRAMES

    def _give_way(self, now: int) -> None:
        """Drop the answer, if one is kept."""
        if self._yielding:
            self.yields.append(now)
            self._yielding = 0
            self._opening = self._opening[:0]


class EchoSimulator:
    """The echo path from loudspeaker to microphone, in blocks of 40 ms: uniformly partitioned
    overlap-save convolution (Stockham 1966; Kulp 1988), so that a long response costs little more.
    """

    def __init__(self, response: npt.NDArray[np.float32]) -> None:
        """`response`: float32 (taps,), int16 out for int16 in; empty: no echo."""
        n = self._frames = ECHO_BLOCKS * BLOCK_FRAMES
        count = -(-len(response) // n)
        parts = np.pad(response, (0, count * n - len(response))).reshape(count, n)
        self._parts = np.fft.rfft(parts, 2 * n, axis=1)
        self._past = np.zeros((count, n + 1), np.complex128)  # spectra of blocks, newest first
        self._last_two = np.zeros(2 * n)

    def process(self, played: Samples) -> npt.NDArray[np.float64]:
        """The echo of `played`, int16[640], and of all earlier blocks in the next 640 samples."""
        n = self._frames
        if not len(self._parts):
            return np.zeros(n)
        self._last_two[:n] = self._last_two[n:]
        self._last_two[n:] = played
        self._past[1:] = self._past[:-1]
        self._past[0] = np.fft.rfft(self._last_two)
        echo: npt.NDArray[np.float64] = np.fft.irfft(
            np.einsum("pk,pk->k", self._parts, self._past)
        )[n:]
        return echo


class RoomSession:
    """One run of a device in a room, from sample 0 on; the owner's sounds are scheduled ahead."""

    def __init__(
        self,
        machine: SimulatedDevice,
        echo: EchoSimulator,
        noise: Samples,
        frames: int,
        *,
        drive: float = 0.0,
    ) -> None:
        """`noise` is looped. `drive`: gain into the loudspeaker's tanh; 0: linear."""
        self.machine = machine
        self.played: Samples = np.zeros(frames, np.int16)
        self._owner_sound = np.zeros(frames + 30 * RATE_HZ, np.float32)
        self._echo, self._noise, self._drive = echo, noise, drive
        self.now = 0

    @property
    def ended(self) -> bool:
        return self.now + ECHO_BLOCKS * BLOCK_FRAMES > len(self.played)

    def add_sound(self, at: int, sound: npt.NDArray[np.float32]) -> None:
        """Mix in a sound of the owner, as at the microphone in int16's scale, from `at` on."""
        target = self._owner_sound[at : at + len(sound)]
        target += sound[: len(target)]

    def tracks(self, first: int, last: int) -> Samples:
        """The samples from `first` to `last`, int16 (frames, 2): the owner's sounds at the
        microphone, without echo and noise, and what the loudspeaker played."""
        owner = to_int16(self._owner_sound[first:last])
        return np.stack([owner, self.played[first:last]], axis=1)

    def advance(self) -> None:
        """Advance by 40 ms."""
        first, frames = self.now, ECHO_BLOCKS * BLOCK_FRAMES
        played = self.played[max(0, first - frames) : first]
        echo = self._echo.process(self._saturated(played)) if first else np.zeros(frames)
        noise = self._noise.take(np.arange(first, first + frames), mode="wrap")
        mic = echo + noise + self._owner_sound[first : first + frames]
        mic_int16 = to_int16(mic)
        for at in range(0, frames, BLOCK_FRAMES):
            span = slice(first + at, first + at + BLOCK_FRAMES)
            self.played[span] = self.machine.play(first + at)
            self.machine.process(mic_int16[at : at + BLOCK_FRAMES], first + at)
        self.now += frames

    def _saturated(self, played: Samples) -> Samples:
        """The sound that the loudspeaker emits: as played, or saturated by tanh."""
        if not self._drive:
            return played
        saturated = np.tanh(played * (self._drive / 32768)) * (32768 / self._drive)
        emitted: Samples = np.rint(saturated).astype(np.int16)
        return emitted
