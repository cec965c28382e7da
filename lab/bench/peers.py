"""`interlude bench peers`: other programs in the rooms of `bench interruption`, beside Interlude.

In: the environment of the programs, which `--install` builds; recordings. Out: for each program
and room how fast it stops, what a murmur costs, whether it obeys. All hear the same sounds with
the same seeds. Ctrl-C ends it early and prints the figures measured so far.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from contextlib import closing

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from lab.bench import peer_tables
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.interruption import SHOWN_PROBLEMS, progress, single_interrupt, whose
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import OVER as PLANNED
from lab.bench.interruption_plan import PAUSES, TrialJob, plan
from lab.bench.interruption_work import run_jobs
from lab.bench.peer_device import run_peer
from lab.bench.peer_environment import PeerEnvironment
from lab.bench.peer_systems import SYSTEMS

OVER = tuple(condition.name for condition in PLANNED["quick"])
SILENT = tuple(condition.name for condition in PAUSES["quick"])
DEFAULT = tuple(name for name in SYSTEMS if not name.endswith("-fast"))


def bench(options: BenchOptions, environment: PeerEnvironment | None = None) -> list[FigureTable]:
    """The tables. `--part` names the systems. Raises BenchError for an unknown one, or if the
    programs are not installed."""
    names = options.chosen("peers", tuple(SYSTEMS), DEFAULT)
    home = environment or PeerEnvironment()
    if any(SYSTEMS[name].program for name in names):
        if options.install:
            home.install()
        home.require()
    sources, problems = options.recorded()
    jobs = planned(options, sources)
    found: dict[str, InterruptionFindings] = {}
    early = False
    with single_interrupt():
        try:
            _measure(options, home, names, jobs, found, problems)
        except KeyboardInterrupt:
            early = True
        return _sheets(found, sources, problems, home, early=early)


def planned(options: BenchOptions, sources: Sequence[RecordingFile]) -> list[TrialJob]:
    """Those jobs of `bench interruption --part over --part pauses` in whose rooms systems are
    compared."""
    jobs = plan(options.effort, sources, options.seed, options.events, options.owner_language)
    compared = {("over", name) for name in OVER} | {("pauses", name) for name in SILENT}
    return [job for job in jobs if (job.part, job.condition) in compared]


def _measure(
    options: BenchOptions,
    home: PeerEnvironment,
    names: Sequence[str],
    jobs: Sequence[TrialJob],
    found: dict[str, InterruptionFindings],
    problems: list[str],
) -> None:
    """Run all jobs with each system, until KeyboardInterrupt. A system whose program or voice fails
    has a sentence in `problems` and no further jobs."""
    cores = len(os.sched_getaffinity(0))
    with progress(len(jobs) * len(names)) as (report, advance):
        for name in names:
            report(name)
            mine = found.setdefault(name, InterruptionFindings())
            run = functools.partial(run_peer, system=name, python=home.python)
            processes = min(cores, len(jobs))
            try:
                with closing(run_jobs(jobs, options.settings, processes, run)) as results:
                    for job, result in results:
                        mine.done.append((job, result))
                        problems += [p for p in dict.fromkeys(result.problems) if p not in problems]
                        advance()
            except InterludeError as error:  # its figures so far stay, and the others go on
                problems.insert(0, f"{SYSTEMS[name].title}: {error}")


def _sheets(
    found: dict[str, InterruptionFindings],
    sources: list[RecordingFile],
    problems: list[str],
    home: PeerEnvironment,
    *,
    early: bool,
) -> list[FigureTable]:
    sheets = peer_tables.tables(found)
    if sheets:
        versions = ", ".join(f"{name} {version}" for name, version in home.versions().items())
        sheets[0].notes += [f"Of PyPI: {versions}.", whose(sources)]
        if early:
            sheets[0].notes.append("Ended early: these are the figures measured by then.")
        sheets[0].notes += problems[:SHOWN_PROBLEMS]
    return sheets
