"""`interlude bench echo`: compares echo cancellers by detected words and false pauses.

Every canceller runs in the listener's own `HearingPipeline`, in the same rooms with the same voices
and words, faster than real time. A second table has the cancellers alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from appliance.hear.aec.factory import EchoCanceller, make_canceller
from appliance.hear.pipeline import HearingPipeline
from appliance.pcm import BLOCK_FRAMES, RATE_HZ
from appliance.settings import Settings
from lab.bench import aec3, bench_speech
from lab.bench.benches import BenchError, BenchOptions, FigureTable
from lab.bench.echo_figures import LENGTH_S, EchoFigures, EchoScene, measure
from lab.bench.interruption_trials import QUIET_DB, JobResult, Spec, TrialRoom, play
from lab.bench.simulated_room import SimulatedBox
from lab.bench.speex import SpeexCanceller
from lab.sim import acoustics, synthetic_phrases
from lab.sim.speech_source import SPEECH_DB

WORDS = 24  # over the box, in each room and condition
TALK_S = 40.0  # the box talks undisturbed, in each room and condition
COLD_S = 10.0
ROOMS = ((0.2, 1001), (0.4, 1002), (0.7, 1003))
ECHOES_DB = (-10.0, 0.0, 10.0, 15.0)  # against the owner
SOON_MS, LATE_MS = 150.0, 300.0
Make = Callable[[], EchoCanceller]


@dataclass(frozen=True)
class EchoCondition:
    name: str
    echo_db: float
    drive: float = 0.0


CONDITIONS = (
    *(EchoCondition(f"echo {db:+.0f} dB", db) for db in ECHOES_DB),
    EchoCondition("+6 dB, tanh(1.5x)", 6.0, 1.5),
    EchoCondition("+6 dB, tanh(3x)", 6.0, 3.0),
)
ALONE = (
    ("moved, echo 0 dB", EchoScene(0.3, 1001, -26.0)),
    ("moved, echo +10 dB", EchoScene(0.4, 1002, -16.0)),
    ("moved, echo −10 dB", EchoScene(0.3, 1003, -36.0)),
    ("knob +10 dB", EchoScene(0.3, 1001, -26.0, turned_db=10.0)),
    ("knob −10 dB", EchoScene(0.3, 1001, -16.0, turned_db=-10.0)),
    ("tanh(1.5x)", EchoScene(0.3, 1001, -20.0, drive=1.5)),
    ("tanh(3x)", EchoScene(0.3, 1001, -20.0, drive=3.0)),
    ("clocks 30 ppm apart", EchoScene(0.3, 1001, -26.0, ppm=30.0)),
)


def cancellers(settings: Settings, parts: Sequence[str] = ()) -> dict[str, Make]:
    """Factories of the cancellers by name; only those in `parts` if any are named. AEC3 needs the
    package `livekit`. Raises BenchError for an unknown or missing one."""
    echo = msgspec.structs.replace(settings.hearing.echo, canceller="kalman")
    found: dict[str, Make] = {
        "kalman": lambda: make_canceller(echo, BLOCK_FRAMES),
        "speex": lambda: SpeexCanceller(tail_ms=echo.tail_ms, frames=BLOCK_FRAMES, rate_hz=RATE_HZ),
    }
    if aec3.installed():
        found["AEC3"] = aec3.Aec3
    unknown = [part for part in parts if part not in found]
    if unknown:
        raise BenchError(f"There is no canceller `{unknown[0]}` here.",
                         f"There are {', '.join(found)}.")  # fmt: skip
    return {name: make for name, make in found.items() if name in (parts or found)}


def bench(options: BenchOptions) -> list[FigureTable]:
    """The table of words and pauses, and that of the cancellers alone."""
    words = WORDS if options.events is None else options.events
    specs = _specs(options, words * len(ROOMS))
    return [_in_pipeline(options, specs, words), _alone(options)]


def _specs(options: BenchOptions, count: int) -> list[Spec]:
    rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
    sources, _ = options.recorded()
    real = [
        s for s in sources if s.kind in ("interruption", "backchannel") and s.word != "commands"
    ]
    if real:
        return list(rng.sample(real, min(count, len(real))))
    return [
        synthetic_phrases.phrase(rng.choice(("interruption", "backchannel")), rng)
        for _ in range(count)
    ]


def _in_pipeline(options: BenchOptions, specs: Sequence[Spec], words: int) -> FigureTable:
    columns = ("", "n", "≤ 150 ms, %", "≤ 300 ms, %", "p50 ms", "pauses/min", "first 10 s",
               "self-interruptions/min")  # fmt: skip
    sheet = FigureTable(
        "In double talk: words over the box noticed, and pauses for nothing", columns
    )
    talk_s = TALK_S * min(1.0, words / WORDS * 2)
    for condition in CONDITIONS:
        for name, make in cancellers(options.settings, options.parts).items():
            results, silent = [], []
            for number, (rt60_s, seed) in enumerate(ROOMS):
                place = TrialRoom(name, rt60_s, seed, SPEECH_DB + condition.echo_db,
                              drive=condition.drive)  # fmt: skip
                chunk = tuple(specs[number * words : (number + 1) * words])
                silent.append(_play(options.settings, make(), place, (), talk_s + COLD_S))
                results.append(_play(options.settings, make(), place, chunk, 9 + 6.0 * len(chunk)))
            sheet.rows.append((f"{condition.name}: {name}", *_figures(results, silent)))
    sheet.notes.append(
        f"Rooms of RT60 {', '.join(f'{rt60:g}' for rt60, _ in ROOMS)} s, the box at full volume, "
        f"{talk_s:.0f} s a room without words after the first 10 s. A pause "
        "up to 400 ms after a word's end counts for the word. Times end at the listener's decision."
    )
    return sheet


def _play(
    settings: Settings,
    canceller: EchoCanceller,
    place: TrialRoom,
    specs: tuple[Spec, ...],
    seconds: float,
) -> JobResult:
    talk = bench_speech.talk(settings, min(seconds, 120.0), place.seed)
    noise = acoustics.noise("white", 10 * RATE_HZ, level_db=QUIET_DB, rate_hz=RATE_HZ,
                            seed=place.seed)  # fmt: skip
    box = SimulatedBox(talk, settings, HearingPipeline(settings.hearing, canceller=canceller))
    return play(box, place, noise, specs, place.seed, seconds)


def _figures(
    with_words: Iterable[JobResult], silent: Sequence[JobResult]
) -> tuple[str | float, ...]:
    trials = [t for result in with_words for t in result.trials if not t.left_out]
    detected_ms = np.array([t.decided_ms for t in trials if t.decided_ms is not None])
    pauses = [p for result in silent for p in result.pauses]
    minutes = sum(max(0.0, r.talked_s - COLD_S) for r in silent) / 60 or 1.0
    warm = [p for p in pauses if p.at_s >= COLD_S]
    share = [
        100 * np.count_nonzero(detected_ms <= ms) / max(1, len(trials)) for ms in (SOON_MS, LATE_MS)
    ]
    return (
        len(trials), *(round(s) for s in share),
        round(float(np.median(detected_ms))) if len(detected_ms) else "–",
        round(len(warm) / minutes, 1), round((len(pauses) - len(warm)) / len(silent), 1),
        round(sum(p.verdict == "interruption" for p in pauses) / minutes, 1),
    )  # fmt: skip


def _alone(options: BenchOptions) -> FigureTable:
    columns = ("", "first s", "second s", "2–10 s", "double talk", "back after, s", "µs a step")
    sheet = FigureTable("The cancellers alone: dB of echo taken away", columns)
    far = bench_speech.talk(options.settings, LENGTH_S, options.seed)
    near = bench_speech.espeak_talk(LENGTH_S, options.seed + 1, voices=("en-gb+f3",))
    for title, scene in ALONE:
        for name, make in cancellers(options.settings, options.parts).items():
            found = measure(make(), scene, far, near)
            sheet.rows.append((f"{title}: {name}", *_row(found)))
    sheet.notes.append(
        "After 20 s the box is moved (another response), or the volume changed; “back after”: time "
        "until the attenuation is within 6 dB of that before. What AEC3's suppressor removes of "
        "the owner in double talk counts against it. µs of CPU a step of 5 ms during playback."
    )
    return sheet


def _row(found: EchoFigures) -> tuple[str | float, ...]:
    levels = (found.first_db, found.second_db, found.settled_db, found.double_db)
    recovery = "never" if found.recovery_s is None else found.recovery_s
    return (*(round(db, 1) for db in levels), recovery, round(found.step_us))
