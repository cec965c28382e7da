"""`interlude bench interruption`: stops, false pauses, verdicts and seams in one table.

It first runs the real processes in real time, alone on the machine, and then thousands of clips
through the listener's `HearingPipeline` on all cores. Ctrl-C ends it early and prints the figures
measured so far.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from lab.bench import (
    interruption_cost,
    interruption_details,
    interruption_live,
    interruption_moments,
    interruption_people,
    interruption_tables,
    interruption_work,
)
from lab.bench.bench_words import RecordedWords
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import plan
from lab.sim import people

PARTS = ("stop", "seam", "cost", "over", "people", "pauses", "article", "moments")
SHOWN_PROBLEMS = 8
SHOWN_FOLDERS = 12  # at most, for each class
SOUND_PER_PROCESS_S = 300.0  # computing it takes as long as the start of one more process
LINES = 10  # of progress, if standard error is not a terminal
COST_S = {"quick": 10.0, "default": 60.0, "full": 180.0}

Report = Callable[[str], None]


def bench(options: BenchOptions) -> list[FigureTable]:
    """The table of targets, and the tables with details. Raises BenchError for an unknown part,
    RecordingError for unusable recordings."""
    parts = options.chosen("interruption", PARTS)
    sources, problems = options.recorded()
    found = InterruptionFindings()
    early = False
    with single_interrupt():
        try:
            _measure(options, parts, sources, found, problems)
        except KeyboardInterrupt:
            early = True
        return _sheets(found, options, sources, problems, early=early)


def _measure(
    options: BenchOptions,
    parts: tuple[str, ...],
    sources: list[RecordingFile],
    found: InterruptionFindings,
    problems: list[str],
) -> None:
    """Run all parts and add their results to `found` as they arrive, until KeyboardInterrupt."""
    heard = interruption_people.heard(options.shared) if "people" in parts else []
    moments = people.moments(options.shared) if "moments" in parts else []
    planned = plan(
        options.effort, sources, options.seed, options.events, options.owner_language, heard,
        moments,
    )  # fmt: skip
    jobs = [job for job in planned if job.part in parts]
    with progress(len(jobs) + _live_parts(options, parts)) as (report, advance):
        _run_live(options, parts, sources, found, report, advance)
        report("thousands of clips")
        cores = len(os.sched_getaffinity(0))
        processes = min(cores, round(sum(job.seconds for job in jobs) / SOUND_PER_PROCESS_S))
        with closing(interruption_work.run_jobs(jobs, options.settings, processes)) as results:
            for job, result in results:
                found.done.append((job, result))
                problems += [p for p in dict.fromkeys(result.problems) if p not in problems]
                advance()


@contextmanager
def single_interrupt() -> Iterator[None]:
    """Let the first Ctrl-C end the measurement; ignore further ones, while tables are made."""

    def interrupt(number: int, _: FrameType | None) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _live_parts(options: BenchOptions, parts: tuple[str, ...]) -> int:
    rooms = len(interruption_live.conditions(options.effort))
    return ("stop" in parts) * rooms + ("seam" in parts) + ("cost" in parts)


def _run_live(
    options: BenchOptions,
    parts: tuple[str, ...],
    sources: list[RecordingFile],
    found: InterruptionFindings,
    report: Report,
    advance: Callable[[], None],
) -> None:
    """Run the parts that need the machine for themselves."""
    if "cost" in parts:
        report("cost of hearing")
        found.cost_us, found.stages = interruption_cost.measure(
            options.settings, COST_S[options.effort]
        )
        advance()
    if "stop" in parts:
        words = RecordedWords(sources, options.seed) if sources else None
        for condition in interruption_live.conditions(options.effort):
            report(f"processes, {condition}")
            ours, article, lost = interruption_live.stops(condition, options, words)
            found.live[condition], found.live_article[condition] = ours, article
            found.dropouts.append(f"{condition}: {lost}")
            advance()
    if "seam" in parts:
        report("processes, seam")
        found.seam = interruption_live.seam(options)
        advance()


def _sheets(
    found: InterruptionFindings,
    options: BenchOptions,
    sources: list[RecordingFile],
    problems: list[str],
    *,
    early: bool,
) -> list[FigureTable]:
    first = interruption_tables.summary(found)
    first.notes.append(whose(sources))
    if early:
        first.notes.append("Ended early: these are the figures measured by then.")
    first.notes += problems[:SHOWN_PROBLEMS]
    if len(problems) > SHOWN_PROBLEMS:
        first.notes.append(f"And {len(problems) - SHOWN_PROBLEMS} more sounds that were left out.")
    sheets = [first]
    for tables_of in (
        interruption_people.tables,
        interruption_details.verdicts,
        interruption_details.by_room,
        interruption_details.article,
        interruption_details.cost,
    ):
        sheets += tables_of(found)
    sheets += interruption_moments.tables(found, options.pictures and options.pictures / "moments")
    sheets += [found.seam] if found.seam else []
    sheets += interruption_details.worst(found, options.worst)
    first.events = [
        {"condition": job.condition, "room": job.place.name, "by": job.by, **_without_empty(t)}
        for job, result in found.done
        for t in result.trials
    ]
    for by, live in (("ours", found.live), ("article", found.live_article)):
        first.events += [
            {"condition": condition, "room": "processes", "by": by, **_without_empty(trial)}
            for condition, trials in live.items()
            for trial in trials
        ]
    if options.pictures is not None:
        from lab.bench import interruption_pictures  # matplotlib takes a second to load

        try:
            first.notes += interruption_pictures.draw(found, options.pictures)
        except InterludeError as error:  # a full disk must not lose an hour's measurements
            first.notes.append(str(error))
    return sheets


def _without_empty(trial: object) -> dict[str, object]:
    return {name: value for name, value in vars(trial).items() if value not in (None, "", ())}


def whose(sources: list[RecordingFile]) -> str:
    """A sentence on whose sounds are played."""
    if not sources:
        return "No recordings: words over the box are by espeak-ng, every noise is synthesised."
    words = [s for s in sources if s.kind in ("backchannel", "interruption")]
    others, speakers = len(sources) - len(words), len({s.speaker for s in words})
    return (
        f"{len(words)} recordings of words and sentences by {speakers} speakers, "
        f"{others} of noise and television; other words are by espeak-ng, other noises are "
        f"synthesised. Classes by the folders' names: {_folders(sources)}."
    )


def _folders(sources: list[RecordingFile]) -> str:
    """The class that each folder's name was mapped to; an unknown name counts as a word."""
    words_of_kind: dict[str, list[str]] = {}
    for source in sorted(sources, key=lambda s: (s.kind, s.word)):
        words = words_of_kind.setdefault(source.kind, [])
        if source.word not in words:
            words.append(source.word)
    return "; ".join(
        f"{kind}: {', '.join(words[:SHOWN_FOLDERS])}"
        + (f" and {len(words) - SHOWN_FOLDERS} more" if len(words) > SHOWN_FOLDERS else "")
        for kind, words in words_of_kind.items()
    )


@contextmanager
def progress(total: int) -> Iterator[tuple[Report, Callable[[], None]]]:
    """Show progress on standard error: a bar on a terminal, else `LINES` lines."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _in_lines(total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=total)
        yield (
            lambda text: shown.update(task, description=text),
            lambda: shown.advance(task),
        )


def _in_lines(total: int) -> tuple[Report, Callable[[], None]]:
    done = 0
    every = max(1, total // LINES)

    def advance() -> None:
        nonlocal done
        done += 1
        if done % every == 0:
            print(f"{done} of {total}", file=sys.stderr)

    return (lambda text: print(text, file=sys.stderr)), advance
