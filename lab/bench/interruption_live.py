"""Runs the real-time half of `bench interruption`: the real processes on the software sound card.
It measures the same quantities as `bench stop` and `bench seam`."""

from __future__ import annotations

from dataclasses import replace

from lab.bench import harness as bench_stage
from lab.bench import seam as bench_seam
from lab.bench import stop as bench_stop
from lab.bench.bench_words import RecordedWords
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.interruption_plan import ECHO, KITCHEN, QUIET, SNR_DB, Effort
from lab.bench.interruption_trials import InterruptionTrial
from lab.sim.rehearsal_cli import load_over
from lab.sim.scene import Room
from lab.sim.speech_source import SPEECH_DB

ROOMS: dict[str, Room] = {
    QUIET.name: bench_stage.QUIET,
    ECHO.name: Room(noise="white", noise_db=-70.0, echo_db=SPEECH_DB,
                                      rt60_s=0.4, seed=1002),
    KITCHEN.name: Room(noise="kitchen", noise_db=SPEECH_DB - SNR_DB,
                                       echo_db=SPEECH_DB - 10, rt60_s=0.4, seed=1002),
}  # fmt: skip
STOPS: dict[Effort, int] = {"quick": 3, "default": 12, "full": 60}  # per kind of word and room
SEAMS: dict[Effort, int] = {"quick": 3, "default": 15, "full": 100}


def conditions(effort: Effort) -> list[str]:
    """The conditions to run; the shortest effort has only the first."""
    return list(ROOMS)[: 1 if effort == "quick" else None]


def stops(
    condition: str, options: BenchOptions, words: RecordedWords | None
) -> tuple[list[InterruptionTrial], list[InterruptionTrial], str]:
    """Play words over the box in one room. Returns our trials, the article's, and our dropouts."""
    events = options.events or STOPS[options.effort]
    loud = load_over(options.settings, {"speaking": {"volume": 1.0}})
    asked = replace(options, events=events, settings=loud)
    found, dropouts = bench_stop.in_room(ROOMS[condition], asked, words)
    ours, article = ([as_trial(e) for e in found if e["by"] == by] for by in ("ours", "article"))
    lost = f"{dropouts['capture']} of capture, {dropouts['playback']} of playback"
    return ours, article, lost


def as_trial(event: dict[str, object]) -> InterruptionTrial:
    """Convert an event of `bench stop` to a trial without a verdict."""
    last = event["last_ms"]
    return InterruptionTrial(
        str(event["name"]),
        "interruption",
        real=event["word"] == "real",
        clear=not event["click"],
        length_ms=0.0,
        left_out=str(event["left_out"]),
        missed=bool(event["missed"]),
        stop_ms=last if isinstance(last, float) else None,
    )


def seam(options: BenchOptions) -> FigureTable:
    """The table of samples lost and repeated at pauses that were taken back."""
    events = options.events or SEAMS[options.effort]
    return bench_seam.bench(replace(options, events=events))[0]
