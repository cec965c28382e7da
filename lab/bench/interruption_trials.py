"""Runs one job of the interruption bench: sounds over a talking device in a simulated room.

In: a room, sounds, a seed. Out: a trial for each sound, and every pause without a cause. Pure but
for reading recordings and running espeak-ng; the same job gives the same result.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile, RecordingKind
from appliance.messages.hearing import Onset, Opinion, Verdict
from appliance.pcm import AUDIBLE, RATE_HZ, Samples
from lab.bench.bench_words import begins_aside
from lab.bench.simulated_room import (
    ECHO_BLOCKS,
    EchoSimulator,
    RoomSession,
    SimulatedDevice,
    TimedEvent,
)
from lab.bench.stop_figures import CLIP_FRAMES, MS, read_stop
from lab.sim import acoustics, corpus, synthetic_noises, synthetic_phrases
from lab.sim.corpus import Floats, SoundClip
from lab.sim.people import Clip, Moment
from lab.sim.speech_source import SPEECH_DB, OwnerSound, scaled
from lab.sim.synthetic_phrases import Phrase

# The owner asks the box something so late that it has heard the room's noise alone before.
ASKED_S = 6.0
ANSWERED_S = ASKED_S + 8.0  # by then the box talks, whether it understood the question or not
CONVERGED_S = 8.0  # talking time before the first sound, in which the canceller converges
TALKED_S = 0.7  # talking time after a pause before the next sound
AFTER_S = 1.3  # how long the device is observed after a sound's end
APART_S = (0.3, 1.8)  # random extra distance between two sounds
DEADLINE = 700 * MS  # latest verdict after an onset
EARLY, LATE = 150 * MS, 400 * MS  # tolerance of an onset before and after the sound's edges
SETTLED = 1600 * MS  # after a sound's end: by then its answer is lost or goes on
AGAIN = 300 * MS  # a pause so soon after a resume is at the same sound
LEVELS_DB = (-3.0, 3.0)  # range of a sound's level against `SPEECH_DB`, as people vary
NOISE_LEVELS_DB = (-8.0, 6.0)
QUIET_DB = -70.0  # dBFS rms of a quiet room's noise


@dataclass(frozen=True)
class TrialRoom:
    """A room and its noise. Levels are dBFS rms at the microphone.

    echo_db  echo of the box at full volume; None: no echo, as with headphones
    drive    gain into the loudspeaker's tanh at full scale; 0: linear
    noise    "quiet", "kitchen" or "television", at `noise_db`
    """

    name: str
    rt60_s: float
    seed: int
    echo_db: float | None
    noise: str = "quiet"
    noise_db: float = QUIET_DB
    drive: float = 0.0


@dataclass(frozen=True)
class SynthesisedNoise:
    """A synthesised noise: its name and its seed."""

    word: str
    seed: int
    kind: RecordingKind = "noise"

    @property
    def name(self) -> str:
        return f"{self.word} {self.seed}"


Spec = RecordingFile | Phrase | SynthesisedNoise | Clip | Moment  # the last two: of conversations
Told = Callable[[Spec, int, int], None]  # a sound of the owner, its true onset and its end


@dataclass(frozen=True)
class InterruptionTrial:
    """One sound over the box. Times in ms from its true onset; `age_ms` from the detected one.

    clear     the onset is known to the sample and belongs to the word, not to a click or a breath
    left_out  why the stop does not count, or ""; `missed`: the device went on talking
    opinions  (age_ms, backchannel, interruption, noise) of the first pause
    verdict   of the first pause; None if there was no pause
    yielded   the answer was dropped in the end: by `SETTLED` after the sound
    resumes   how often the box went on with its answer; `again`: and paused within `AGAIN`
    over_ms   last audible sample of the dropped answer, over all pauses; None if not dropped
    source, who, recording
              of a `Clip` or `Moment`: where it comes from, its speaker, its file; else ""
    """

    name: str
    kind: RecordingKind
    real: bool
    clear: bool
    length_ms: float
    left_out: str = ""
    missed: bool = False
    stop_ms: float | None = None
    decided_ms: float | None = None
    opinions: tuple[tuple[int, float, float, float], ...] = ()
    verdict: str | None = None
    age_ms: int | None = None
    yielded: bool = False
    resumes: int = 0
    again: int = 0
    over_ms: float | None = None
    source: str = ""
    who: str = ""
    recording: str = ""


@dataclass(frozen=True)
class FalsePause:
    """A pause without a sound that caused it: its time in s of the session, and its verdict."""

    at_s: float
    verdict: str


@dataclass
class JobResult:
    """The result of a job.

    talked_s  how long the device talked
    died_s    times at which an answer was dropped without a sound of the owner
    tracks    of each `Moment` int16 (frames, 2): the person as at the microphone, alone, and what
              the loudspeaker played
    """

    trials: list[InterruptionTrial] = field(default_factory=list)
    pauses: list[FalsePause] = field(default_factory=list)
    talked_s: float = 0.0
    died_s: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    tracks: list[Samples] = field(default_factory=list)


def sound_of(spec: Spec) -> SoundClip:
    """Load or synthesise the sound. Raises InterludeError for an unusable recording."""
    match spec:
        case RecordingFile():
            return corpus.load(spec)
        case Phrase():
            return synthetic_phrases.spoken(spec)
        case SynthesisedNoise():
            return synthetic_noises.noise(spec.word, spec.seed)
        case Clip():
            found = corpus.with_edges(spec.wave)
            return found or SoundClip(spec.wave, 0, len(spec.wave), clear=False)
        case Moment():
            return SoundClip(spec.voice, spec.onset, spec.end, clear=False)


def echo_of(place: TrialRoom) -> EchoSimulator:
    """The echo path from the loudspeaker to the microphone."""
    if place.echo_db is None:
        return EchoSimulator(np.zeros(0, np.float32))
    response = acoustics.impulse_response(
        place.rt60_s, rate_hz=RATE_HZ, echo_db=place.echo_db, seed=place.seed
    )
    return EchoSimulator(response)


def through_the_room(place: TrialRoom) -> npt.NDArray[np.float32]:
    """The impulse response from owner to microphone, of energy 1; tap 0 is the direct sound."""
    response = acoustics.impulse_response(
        place.rt60_s, rate_hz=RATE_HZ, echo_db=0.0, seed=place.seed + 500
    )
    return response / np.float32(np.sqrt(np.sum(np.square(response))))


def in_room(sound: Floats, response: npt.NDArray[np.float32]) -> Floats:
    size = 1 << (len(sound) + len(response)).bit_length()
    wet = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)
    out: Floats = wet[: len(sound) + len(response) - 1].astype(np.float32)
    return out


def play(
    device: SimulatedDevice,
    place: TrialRoom,
    noise: Samples,
    specs: tuple[Spec, ...],
    seed: int,
    seconds: float,
    question: Phrase | None = None,
    told: Told | None = None,
) -> JobResult:
    """Play all `specs` over the device, one after the other, in at most `seconds`; without `specs`
    run for `seconds`. `question`: asked by the owner first, at the usual level `SPEECH_DB`.
    `told`: called with each of these sounds as it is scheduled, samples of the session."""
    result = JobResult()
    rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
    frames = round(seconds * RATE_HZ)
    session = RoomSession(device, echo_of(place), noise, frames, drive=place.drive)
    response = through_the_room(place)
    played: list[tuple[Spec, SoundClip, int, int]] = []
    remaining, first_due = list(reversed(specs)), 0
    stretches: list[tuple[int, int]] = []
    if question is not None:
        first_due = round(ANSWERED_S * RATE_HZ)
        stretches.append(_ask(session, question, response, told))
    due, talked = first_due + round(CONVERGED_S * RATE_HZ), 0
    block = ECHO_BLOCKS * 80
    while not session.ended:
        session.advance()
        talked = talked + block if device.talking else 0
        result.talked_s += block / RATE_HZ if device.talking else 0.0
        if not remaining:
            if specs and session.now > due:
                break
            continue
        if session.now < due or talked < TALKED_S * RATE_HZ:
            continue
        spec = remaining.pop()
        try:
            clip = sound_of(spec)
        except InterludeError as error:
            result.problems.append(str(error))
            continue
        wave = _over_the_air(clip, spec.kind, response, rng)
        at = session.now + rng.randrange(block)
        session.add_sound(at, wave)
        if told is not None:
            told(spec, at + clip.onset, at + clip.end)
        played.append((spec, clip, at + clip.onset, at + clip.end))
        due = at + clip.end + round((AFTER_S + rng.uniform(*APART_S)) * RATE_HZ)
        if isinstance(spec, Moment):
            due = at + len(clip.samples)
    result.trials = [_trial(session, *one) for one in played]
    # A recording has its own noise after the word, and reverberation follows.
    spans = [(onset - clip.onset, onset - clip.onset + len(clip.samples))
             for _, clip, onset, _ in played]  # fmt: skip
    result.tracks = [session.tracks(*span) for span, (spec, *_) in zip(spans, played, strict=True)
                     if isinstance(spec, Moment)]  # fmt: skip
    stretches += [(onset, last) for (_, last), (_, _, onset, _) in zip(spans, played, strict=True)]
    result.pauses = _false_pauses(device.events, stretches)
    result.died_s = [at / RATE_HZ for at in device.yields
                     if not _caused(at, stretches, LATE + DEADLINE)]  # fmt: skip
    return result


def _ask(
    session: RoomSession, question: Phrase, response: Floats, told: Told | None
) -> tuple[int, int]:
    """Let the owner ask at `ASKED_S`; returns the samples from the onset to the sound's end."""
    asked, at = sound_of(question), round(ASKED_S * RATE_HZ)
    wave = scaled(asked.samples, asked.onset, asked.end, SPEECH_DB).astype(np.float32)
    session.add_sound(at, in_room(wave, response))
    if told is not None:
        told(question, at + asked.onset, at + asked.end)
    return at + asked.onset, at + len(asked.samples)


def _over_the_air(
    clip: SoundClip, kind: RecordingKind, response: npt.NDArray[np.float32], rng: random.Random
) -> Floats:
    """The clip as it reaches the microphone, its own noise faded in and out at the ends."""
    span = NOISE_LEVELS_DB if kind == "noise" else LEVELS_DB
    wave = scaled(clip.samples, clip.onset, clip.end, SPEECH_DB + rng.uniform(*span))
    faded = wave.astype(np.float32)
    ramp = np.linspace(0, 1, max(1, min(clip.onset, 100 * MS)), dtype=np.float32)
    faded[: len(ramp)] *= ramp
    ramp_down = np.linspace(1, 0, max(1, min(len(wave) - clip.end, 100 * MS)), dtype=np.float32)
    faded[len(faded) - len(ramp_down) :] *= ramp_down
    return in_room(faded, response)


def _trial(
    session: RoomSession, spec: Spec, clip: SoundClip, onset: int, end: int
) -> InterruptionTrial:
    first = onset - CLIP_FRAMES
    last = min(session.now, end + RATE_HZ + CLIP_FRAMES)
    device = session.machine
    stop = read_stop(
        session.played[first:last], CLIP_FRAMES, [at - first for at in sorted(device.stops)]
    )
    dropped = next((at for at in sorted(device.yields)
                    if onset - EARLY <= at <= end + SETTLED), None)  # fmt: skip
    clear = clip.clear and not begins_aside(OwnerSound(clip.at(SPEECH_DB), clip.onset, clip.end))
    resumed, again = _resumes(device.events, onset - EARLY, end + SETTLED)
    trial = InterruptionTrial(
        spec.name, spec.kind, isinstance(spec, RecordingFile | Clip | Moment), clear,
        (end - onset) / MS,
        stop.left_out, stop.missed, None if stop.last is None else stop.last / MS,
        yielded=dropped is not None,
        over_ms=None if dropped is None else _last_audible(session.played[onset:dropped]) / MS,
        resumes=len(resumed), again=len(again),
    )  # fmt: skip
    if isinstance(spec, Clip | Moment):
        trial = replace(trial, source=spec.source, who=spec.who, recording=spec.recording)
    onset_event = next((t for t in device.events if isinstance(t.event, Onset) and t.event.speaking
                        and onset - EARLY <= t.at <= end + LATE), None)  # fmt: skip
    return _with_verdict(trial, device.events, onset_event, onset) if onset_event else trial


def _resumes(events: list[TimedEvent], first: int, last: int) -> tuple[list[int], list[int]]:
    """The resumes between two samples, and those of them that a pause followed within `AGAIN`."""
    resumed = [t.at for t in events if isinstance(t.event, Verdict)
               and t.event.kind != "interruption" and first <= t.at <= last]  # fmt: skip
    paused = [t.at for t in events if isinstance(t.event, Onset) and t.event.speaking]
    return resumed, [at for at in resumed if any(at <= pause <= at + AGAIN for pause in paused)]


def _last_audible(track: Samples) -> int:
    """The index after the last audible sample; 0 if none is audible."""
    loud = np.flatnonzero(np.abs(track.astype(np.int32)) > AUDIBLE)
    return int(loud[-1]) + 1 if len(loud) else 0


def _with_verdict(
    trial: InterruptionTrial, events: list[TimedEvent], onset_event: TimedEvent, onset: int
) -> InterruptionTrial:
    assert isinstance(onset_event.event, Onset)
    serial = onset_event.event.serial
    opinions, verdict = [], None
    for _, event in events:
        if isinstance(event, Opinion) and event.serial == serial:
            opinions.append((event.age_ms, event.backchannel, event.interruption, event.noise))
        elif isinstance(event, Verdict) and event.serial == serial:
            verdict = verdict or event  # a second one takes it back
    judged = replace(trial, decided_ms=(onset_event.at - onset) / MS, opinions=tuple(opinions))
    if verdict is None:
        return judged
    return replace(judged, verdict=verdict.kind, age_ms=verdict.age_ms)


def _false_pauses(events: list[TimedEvent], stretches: list[tuple[int, int]]) -> list[FalsePause]:
    """The pauses outside the stretches of all sounds."""
    verdicts = {t.event.serial: t.event.kind for t in events if isinstance(t.event, Verdict)}
    return [
        FalsePause(t.at / RATE_HZ, verdicts.get(t.event.serial, "none"))
        for t in events
        if isinstance(t.event, Onset) and t.event.speaking
        and not _caused(t.at, stretches, LATE)
    ]  # fmt: skip


def _caused(at: int, stretches: list[tuple[int, int]], late: int) -> bool:
    return any(first - EARLY <= at <= last + late for first, last in stretches)
