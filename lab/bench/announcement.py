"""`interlude bench announcement`: the first announcement of a box after it was switched on.

In: announcements by the box's voice, with their chime and without a start-up sound, rooms, delays,
echo levels. Out: how often the box took its own voice for speech, and how soon it detected a real
speaker. It runs the listener's own `HearingPipeline` faster than real time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from appliance.messages.hearing import Onset
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import Settings
from appliance.voice import factory
from appliance.voice.chime import chime
from lab.bench import bench_speech
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.interruption_trials import TrialRoom, in_room, sound_of, through_the_room
from lab.bench.simulated_room import ECHO_BLOCKS, EchoSimulator, RoomSession, SimulatedBox
from lab.bench.voice_runs import say, wait_until_ready
from lab.sim import acoustics, synthetic_phrases
from lab.sim.speech_source import SPEECH_DB, scaled
from lab.sim.synthetic_phrases import Phrase

TEXTS = (
    "To let this browser in, type these digits: four. nine. zero. seven. one. two.",
    "Somebody was let in to the page of this box.",
    "Hello. I am here, and I can hear you.",
    "The timer for the pasta is done.",
    "There is a new release. It is installed tonight.",
    "Zero. eight. six. three. five. one.",
)
ECHOES_DB = (-10.0, -20.0, -30.0, -40.0, -50.0)  # dBFS rms of full-scale speech at the microphone
RT60_S = (0.2, 0.3, 0.4, 0.6)
DELAYS_MS = (40, 65, 110)  # echo delay through card, buffers and air
NOISE_DB = -66.0
LISTENS_S = 2.0  # silence before the announcement
EVENTS = 24  # announcements alone, and as many talked over, at each level
WORD_S = (0.0, 2.2)  # start of the owner's word after the chime's start
WORD_DB = (-3.0, 3.0)  # against SPEECH_DB
EARLY_S, LATE_S = 0.15, 1.1  # tolerance of an onset before the word's start and after its end


@dataclass(frozen=True)
class AnnouncementRoom:
    """A room. `echo_db`: dBFS rms at the microphone of full-scale speech of the box."""

    echo_db: float
    rt60_s: float
    delay_ms: int
    seed: int


@dataclass(frozen=True)
class AnnouncementRun:
    """The sample indices of the onsets, and of the moments at which the answer was dropped."""

    onsets: list[int]
    yields: list[int]


class _SaysOnce(SimulatedBox):
    """A box that says its talk once, from sample `asked` on."""

    def _answering(self, at: int) -> bool:
        return at >= self._quiet_until and self._position < len(self._talk)


def announcements(settings: Settings) -> list[Samples]:
    """The announcements as the box plays them: after the chime, at the volume of the settings.
    Raises VoiceError."""
    with closing(factory.open_voice(settings, bench_speech.name_of(settings))) as voice:
        wait_until_ready(voice)
        spoken = [np.concatenate([chime(), say(voice, text).sound]) for text in TEXTS]
    volume = settings.speaking.volume
    return [(sound * volume).astype(np.int16) for sound in spoken]


def announce(
    settings: Settings,
    sound: Samples,
    room: AnnouncementRoom,
    word: tuple[int, Samples] | None = None,
) -> AnnouncementRun:
    """Simulate a box with an unadapted canceller that says `sound` after `LISTENS_S`. `word`: the
    first sample and the sound of the owner's word at the microphone."""
    response = acoustics.impulse_response(
        room.rt60_s, rate_hz=RATE_HZ, echo_db=room.echo_db, seed=room.seed
    )
    extra_frames = max(0, room.delay_ms * RATE_HZ // 1000 - ECHO_BLOCKS * 80)
    response = np.concatenate([np.zeros(extra_frames, np.float32), response])
    noise = acoustics.noise(
        "white", 10 * RATE_HZ, level_db=NOISE_DB, rate_hz=RATE_HZ, seed=room.seed
    )
    start = round(LISTENS_S * RATE_HZ)
    tail = np.zeros(RATE_HZ, np.int16)  # the reverberation still belongs to the announcement
    box = _SaysOnce(np.concatenate([sound, tail]), settings, asked=start)
    session = RoomSession(box, EchoSimulator(response), noise, start + len(sound) + 2 * RATE_HZ)
    if word is not None:
        session.add_sound(word[0], word[1].astype(np.float32))
    while not session.ended:
        session.advance()
    onsets = [timed.at for timed in box.events if isinstance(timed.event, Onset)]
    return AnnouncementRun(onsets, box.yields)


def bench(options: BenchOptions) -> list[FigureTable]:
    """Announcements alone and talked over, at each level of the echo."""
    count = EVENTS if options.events is None else options.events
    columns = ("", "alone: n", "paused", "thrown away", "talked over: n", "paused before",
               "noticed", "≤ 150 ms", "≤ 300 ms", "p50 ms", "p95 ms")  # fmt: skip
    sheet = FigureTable("The first announcement", columns)
    sounds = announcements(options.settings)
    rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
    for echo_db in ECHOES_DB:
        rooms = list(_rooms(echo_db, count, rng))
        alone = [announce(options.settings, rng.choice(sounds), room) for room in rooms]
        over = [_talked_over(options.settings, rng.choice(sounds), room, rng) for room in rooms]
        sheet.rows.append((f"echo {echo_db:.0f} dBFS", *_figures(alone, over)))
    sheet.notes.append(
        "There was no speech and no start-up sound before the announcement. Rooms of RT60 "
        f"{RT60_S[0]:g} to {RT60_S[-1]:g} s, delays of {DELAYS_MS[0]} to {DELAYS_MS[-1]} ms, noise "
        f"of {NOISE_DB:.0f} dBFS. A word of {SPEECH_DB:.0f} dBFS starts up to {WORD_S[1]:g} s "
        "after the chime's start; “noticed” counts only runs without a false pause before the "
        "word. Times run from the word's first sample to the decision."
    )
    return [sheet]


def _rooms(echo_db: float, count: int, rng: random.Random) -> Iterator[AnnouncementRoom]:
    """`count` rooms; all combinations of RT60 and delay are used before one is repeated."""
    combinations = [(rt60_s, delay_ms) for rt60_s in RT60_S for delay_ms in DELAYS_MS]
    rng.shuffle(combinations)
    for number in range(count):
        rt60_s, delay_ms = combinations[number % len(combinations)]
        yield AnnouncementRoom(echo_db, rt60_s, delay_ms, rng.randrange(1000, 2000))


def _talked_over(
    settings: Settings, sound: Samples, room: AnnouncementRoom, rng: random.Random
) -> tuple[float | None, bool]:
    """Announce with a word over it. Returns the ms from the word's first sample to the decision,
    None if the word was not detected; and whether the box had paused before the word."""
    phrase: Phrase = synthetic_phrases.phrase("interruption", rng)
    clip = sound_of(phrase)
    level_db = SPEECH_DB + rng.uniform(*WORD_DB)
    wave = scaled(clip.samples, clip.onset, clip.end, level_db).astype(np.float32)
    response = through_the_room(TrialRoom("", room.rt60_s, room.seed, None))
    at = round((LISTENS_S + rng.uniform(*WORD_S)) * RATE_HZ)
    word = in_room(wave, response).astype(np.int16)
    run = announce(settings, sound, room, (at, word))
    first, last = at + clip.onset - EARLY_S * RATE_HZ, at + clip.end + LATE_S * RATE_HZ
    paused_before = any(onset < first for onset in run.onsets)
    detected = next((onset for onset in run.onsets if first <= onset <= last), None)
    late_ms = None if detected is None else (detected - at - clip.onset) * 1000 / RATE_HZ
    return late_ms, paused_before


def _figures(
    alone: Sequence[AnnouncementRun], over: Sequence[tuple[float | None, bool]]
) -> tuple[str | float, ...]:
    without_pause = [ms for ms, before in over if not before]
    detected_ms = [ms for ms in without_pause if ms is not None]
    spread = (
        [round(float(p)) for p in np.percentile(detected_ms, [50, 95])]
        if detected_ms
        else ["–", "–"]
    )
    return (
        len(alone),
        sum(bool(run.onsets) for run in alone),
        sum(bool(run.yields) for run in alone),
        len(over),
        len(over) - len(without_pause),
        len(detected_ms),
        sum(ms <= 150 for ms in detected_ms),
        sum(ms <= 300 for ms in detected_ms),
        *spread,
    )
