"""Renders sounds to bursts with the listener's own pipeline: room, echo, noise, pauses, canceller.

In: a role's sounds, a seed. Out: labelled bursts, each with 300 ms before its onset and up to
800 ms after, as `HearingPipeline` passed them to its classifier. Nothing is trained on clean clips.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from appliance.hear.aec.factory import make_canceller
from appliance.hear.bargein.classifier import IN_RULES, ClassProbabilities, DecisionSchedule
from appliance.hear.bargein.segment import Segment
from appliance.hear.onset.frontend import AudioBlock
from appliance.hear.pipeline import HearingEvent, HearingPipeline
from appliance.messages.hearing import Onset, SpeechEnded, Verdict
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.settings import HearingSettings, load_defaults
from lab.bench import bench_speech
from lab.bench.simulated_room import ECHO_BLOCKS, EchoSimulator, RoomSession, TimedEvent
from lab.bench.speex import SpeexCanceller
from lab.sim import acoustics
from lab.sim.corpus import Role
from training.verdict.sounds import Sound, SoundSource

DEADLINE_MS = 760  # a little later than the box's, so that the data include its last decision
EVENTS = 14  # sounds in a scene
ALONE_S = 24  # length of a scene in which the box talks without an owner
LAG_BLOCKS = 2  # from an onset to silence at the card
ROOMS = {"training": (0, 800), "tuning": (800, 1000), "held-out": (1000, 2000)}  # seeds of rooms
Wave = npt.NDArray[np.float32]
Canceller = Literal["kalman", "speex", "none"]
DEFAULTS = load_defaults()


@dataclass
class Heard:
    """One burst: int16 sound from 300 ms before its onset, and for each block after the past

    (energy dB, floor dB, probability of speech, loudness so far dB, quiet ms).
    """

    past_steps: int  # steps in `sound` before the classifier's first
    onset: int = 0  # sample of the scene
    index: int = 0
    sound: list[Samples] = field(default_factory=list)
    measures: list[tuple[float, float, float, float, float]] = field(default_factory=list)
    kind: str = ""
    word: str = ""
    origin: str = ""
    who: str = ""
    scene: str = ""
    lead_ms: float = 0.0  # from the detected onset to the sound's true one
    length_ms: float = 0.0  # of the sound


class Recorder:
    """A classifier of constant probabilities that records its input."""

    def __init__(self) -> None:
        self.bursts: list[Heard] = []
        self._probability = 0.5

    @property
    def schedule(self) -> DecisionSchedule:
        return IN_RULES

    def start(self, past: Samples) -> None:
        steps = len(past) // BLOCK_FRAMES
        self.bursts.append(Heard(steps, sound=[past[-steps * BLOCK_FRAMES :].copy()]))
        self._probability = 0.5

    def process(self, block: AudioBlock, segment: Segment) -> None:
        heard = self.bursts[-1]
        if block.probability is not None:
            self._probability = block.probability
        heard.sound.append(block.samples.copy())
        heard.measures.append(
            (block.energy_db, block.floor_db, self._probability, segment.level_db, segment.quiet_ms)
        )

    def correction(self) -> float:
        return 0.0

    def probabilities(self) -> ClassProbabilities:
        return ClassProbabilities(0.4, 0.3, 0.3)  # the box resumes at the deadline, and not before


class Talker:
    """The box in a room: plays `talk`, and pauses or ducks it while an onset is judged."""

    def __init__(
        self, talk: Samples, hearing: HearingPipeline, recorder: Recorder, duck: float
    ) -> None:
        self._talk, self._position = talk, 0
        self._hearing, self._recorder = hearing, recorder
        self._duck, self._gain, self._wanted = duck, 1.0, 1.0
        self._ahead = [np.zeros(BLOCK_FRAMES, np.int16)] * LAG_BLOCKS
        self._played = self._ahead[0]
        self.stops: list[int] = []
        self.events: list[TimedEvent] = []
        self.yields: list[int] = []
        hearing.answering = True

    @property
    def talking(self) -> bool:
        return self._wanted > 0

    def play(self, at: int) -> Samples:
        block = np.zeros(BLOCK_FRAMES, np.int16)
        if self._wanted or self._gain:
            ramp = np.linspace(self._gain, self._wanted, BLOCK_FRAMES)
            where = (self._position + np.arange(BLOCK_FRAMES)) % len(self._talk)
            block = (self._talk[where] * ramp).astype(np.int16)
            self._position += BLOCK_FRAMES
            self._gain = self._wanted
        self._ahead.append(block)
        self._played = self._ahead.pop(0)
        return self._played

    def process(self, mic: Samples, at: int) -> None:
        for event in self._hearing.process(mic, self._played, at):
            if isinstance(event, Onset):
                self._wanted = self._duck
                self._recorder.bursts[-1].onset = event.index
            elif self._released(event):
                self._wanted = 1.0

    @staticmethod
    def _released(event: HearingEvent) -> bool:
        if isinstance(event, Verdict):
            return event.kind != "interruption"
        return isinstance(event, SpeechEnded) and event.last


def settings(confirm_ms: int) -> HearingSettings:
    """The box's own settings, with thresholds that delay every decision to the deadline."""
    ours = DEFAULTS.hearing
    verdict = msgspec.structs.replace(
        ours.verdict, interruption=1.0, backchannel=1.0, deadline_ms=DEADLINE_MS
    )
    onset = msgspec.structs.replace(ours.onset, confirm_ms=confirm_ms)
    return msgspec.structs.replace(ours, verdict=verdict, onset=onset)


def pipeline(confirm_ms: int, kind: Canceller, classifier: Recorder) -> HearingPipeline:
    """The box's own hearing pipeline with a canceller of that kind."""
    ours = settings(confirm_ms)
    echo = msgspec.structs.replace(ours.echo, canceller="none" if kind == "none" else "kalman")
    made = make_canceller(echo, BLOCK_FRAMES)
    if kind == "speex":
        made = SpeexCanceller(tail_ms=echo.tail_ms, frames=BLOCK_FRAMES, rate_hz=RATE_HZ)
    return HearingPipeline(ours, classifier=classifier, canceller=made)


class Conditions(NamedTuple):
    """Conditions of a scene: levels of owner, echo and noise at the microphone in dBFS; room."""

    level_db: float
    echo_db: float
    noise_db: float
    room: int
    rt60_s: float


def conditions(role: Role, seed: int) -> Conditions:
    """The conditions of the scene with that seed."""
    return _conditions(role, seed)[1]


def _conditions(role: Role, seed: int) -> tuple[np.random.Generator, Conditions]:
    """The random generator for the rest of the scene, and its conditions."""
    chance = np.random.default_rng([seed, len(role)])
    level_db = chance.uniform(-42, -18)
    echo_db = min(-10.0, level_db + chance.uniform(-25, 12)) if chance.random() < 0.92 else -90.0
    noise_db = max(-72.0, level_db - chance.uniform(6, 42))
    room = int(chance.integers(*ROOMS[role]))
    return chance, Conditions(level_db, echo_db, noise_db, room, float(chance.uniform(0.12, 0.6)))


def scene(
    sounds: SoundSource, seed: int, *, headphones: bool = False, events: int = EVENTS
) -> list[Heard]:
    """The bursts of one scene: one room, one owner's loudness, fourteen sounds while the box talks.

    With `headphones` there is neither echo nor canceller, and rendering takes half of the time.
    """
    chance, where = _conditions(sounds.role, seed)
    rate, level_db, room, rt60_s = RATE_HZ, where.level_db, where.room, where.rt60_s
    response = acoustics.impulse_response(rt60_s, rate_hz=rate, echo_db=where.echo_db, seed=room)
    delay = np.zeros(int(chance.uniform(0, 0.04) * rate), np.float32)
    talk = _talk(sounds, chance)
    recorder = Recorder()
    confirm_ms = 150 if chance.random() < 0.4 else 900
    # Speex leaves a different residual echo, as the built-in cancellers of sound cards do.
    canceller: Canceller = "kalman" if chance.random() < 0.7 else "speex"
    if headphones:
        canceller, response = "none", np.zeros(1, np.float32)
    hearing = pipeline(confirm_ms, canceller, recorder)
    duck = float(chance.uniform(0.05, 0.2)) if chance.random() < 0.12 else 0.0
    talker = Talker(talk, hearing, recorder, duck)
    first_s = chance.uniform(0.4, 2.0) if chance.random() < 0.25 else chance.uniform(2.5, 4.5)
    gaps_s = (0.65, 0.85) if headphones else (0.75, 1.4)
    plan, frames = _plan(
        sounds, chance, int(first_s * rate), rt60_s, level_db, room, gaps_s, events
    )
    noise = acoustics.noise(
        str(chance.choice(acoustics.NOISES)), 8 * rate, level_db=where.noise_db, rate_hz=rate,
        seed=room,
    )  # fmt: skip
    drive = float(chance.uniform(0.3, 2.0)) if chance.random() < 0.25 else 0.0
    session = RoomSession(
        talker, EchoSimulator(np.concatenate([delay, response])), noise, frames, drive=drive
    )
    for at, _, wave in plan:
        session.add_sound(at, wave)
    while not session.ended:
        session.advance()
    kept = [_labelled(heard, plan, f"{sounds.role} {seed}") for heard in recorder.bursts]
    return [heard for heard in kept if heard is not None]


def alone(sounds: SoundSource, seed: int) -> list[Heard]:
    """False onsets without an owner, by residual echo of the box's own voice at full volume in
    reverberant rooms. Their class is noise."""
    chance = np.random.default_rng([seed, len(sounds.role), 1])
    room = int(chance.integers(*ROOMS[sounds.role]))
    response = acoustics.impulse_response(
        float(chance.uniform(0.25, 0.65)), rate_hz=RATE_HZ, seed=room,
        echo_db=float(chance.uniform(-30, -10)),
    )  # fmt: skip
    recorder = Recorder()
    canceller: Canceller = "kalman" if chance.random() < 0.85 else "speex"
    hearing = pipeline(900, canceller, recorder)
    talk = (
        bench_speech.espeak_talk(ALONE_S, 10_000 + seed)
        if chance.random() < 0.6
        else _talk(sounds, chance)
    )
    noise = acoustics.noise(
        str(chance.choice(acoustics.NOISES)), 8 * RATE_HZ, rate_hz=RATE_HZ, seed=room,
        level_db=float(chance.uniform(-72, -48)),
    )  # fmt: skip
    drive = float(chance.uniform(0.3, 2.0)) if chance.random() < 0.3 else 0.0
    talker = Talker(talk, hearing, recorder, 0.0)
    session = RoomSession(talker, EchoSimulator(response), noise, ALONE_S * RATE_HZ, drive=drive)
    while not session.ended:
        session.advance()
    kept = [_labelled(heard, [], f"{sounds.role} alone {seed}") for heard in recorder.bursts]
    return [heard for heard in kept if heard is not None]


def _talk(sounds: SoundSource, chance: np.random.Generator) -> Samples:
    wave = sounds.talk(chance, 12.0)
    volume = chance.uniform(0.25, 1.0)
    return np.asarray(wave / np.abs(wave).max() * volume * 32000, np.int16)


def _plan(
    sounds: SoundSource,
    chance: np.random.Generator,
    at: int,
    rt60_s: float,
    level_db: float,
    room: int,
    gaps_s: tuple[float, float],
    events: int,
) -> tuple[list[tuple[int, Sound, Wave]], int]:
    """The sounds with the first sample of each, as they arrive at the microphone; all samples."""
    response = near(rt60_s, room, float(chance.uniform(-2, 14)))
    far = near(min(0.9, rt60_s * 1.6), room + 7, -12.0)
    plan = []
    for _ in range(events):
        sound = sounds.next(chance)
        loudness_db = level_db + {
            "noise": chance.uniform(-12, 8), "television": chance.uniform(-30, -13)
        }.get(sound.origin, chance.uniform(-4, 4))  # fmt: skip
        span = sound.wave[sound.onset : sound.end]
        rms = float(np.sqrt(np.mean(np.square(span)))) or 1.0
        scaled = sound.wave * np.float32(32768 * 10 ** (loudness_db / 20) / rms)
        wet = convolved(scaled, far if sound.origin == "television" else response)
        plan.append((at, sound, np.clip(wet, -32000, 32000).astype(np.float32)))
        at += sound.end + int(chance.uniform(*gaps_s) * RATE_HZ)
    block = ECHO_BLOCKS * BLOCK_FRAMES
    return plan, at // block * block


def near(rt60_s: float, seed: int, direct_db: float) -> Wave:
    """Impulse response from a talker to the microphone, with energy 1.

    `direct_db`: the direct sound's level above the reverberant.
    """
    chance = np.random.default_rng(seed + 50_000)
    frames = int(rt60_s * RATE_HZ * 0.7)
    tail = chance.standard_normal(frames) * 10 ** (-3 * np.arange(frames) / (rt60_s * RATE_HZ))
    tail[: int(0.002 * RATE_HZ)] = 0
    tail /= np.sqrt(np.sum(tail**2))
    tail *= 10 ** (-direct_db / 20)
    tail[0] = 1.0
    return np.asarray(tail / np.sqrt(np.sum(tail**2)), np.float32)


def convolved(wave: Wave, response: Wave) -> Wave:
    size = 1 << (len(wave) + len(response)).bit_length()
    wet = np.fft.irfft(np.fft.rfft(wave, size) * np.fft.rfft(response, size), size)
    return np.asarray(wet[: len(wave) + len(response) - 1], np.float32)


def _labelled(heard: Heard, plan: list[tuple[int, Sound, Wave]], scene_name: str) -> Heard | None:
    """The burst with its class by the plan; None if that is ambiguous."""
    ms = RATE_HZ // 1000
    heard.scene = scene_name
    if len(heard.measures) < 8:
        return None
    for at, sound, _ in plan:
        begins, ends = at + sound.onset, at + sound.end
        if heard.onset > ends + 150 * ms or heard.onset < at - 700 * ms:
            continue
        lead = begins - heard.onset
        if -250 * ms <= lead <= 120 * ms:
            heard.kind, heard.word, heard.origin = sound.kind, sound.word, sound.origin
            heard.who, heard.lead_ms = sound.who, lead / ms
            heard.length_ms = (sound.end - sound.onset) / ms
            return heard
        return None  # the onset is in the middle of a word, at its echo, or too early
    heard.kind, heard.word, heard.origin = "noise", "residue", "residue"
    return heard
