"""`interlude bench`: the list of benches, and how their tables are printed and written.

In: a name and options. Out: tables on the terminal, and the same as a JSON file if one is named.
"""

from __future__ import annotations

import difflib
import importlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from appliance.errors import InterludeError, StorageError
from appliance.hear.bargein import recordings
from appliance.hear.bargein.recordings import RecordingFile
from appliance.settings import Settings
from appliance.voice.factory import candidates
from lab.sim import corpus
from lab.sim.corpus import Speakers
from lab.sim.people import SHARED
from lab.sim.rehearsal_report import versions

RECORDINGS = SHARED / "recordings"
EFFORTS = {"quick": "6 min", "full": "3 hours"}  # duration of `bench interruption` on two cores
# Duration of each of its parts with the default effort, in minutes, on two cores.
PARTS_MIN = {
    "stop": 5.5, "seam": 1.0, "cost": 0.5, "over": 4.0, "people": 4.0, "pauses": 3.0,
    "article": 1.0, "moments": 5.0,
}  # fmt: skip
FILE_COLUMNS = 120  # width of the output where standard output is not a terminal
SPREAD = ("p50", "p95", "p99", "max", "n")  # the columns that `spread` fills


class BenchError(InterludeError, ValueError):
    """A measurement cannot be made with these options."""

    exit_code = 64  # EX_USAGE


@dataclass(frozen=True)
class BenchOptions:
    """The options of a bench.

    events      number of measurements; None: the bench's default
    recordings  a folder of `<class or word>/*.flac|wav`; None: `default_recordings`
    speakers    which speakers' recordings to use; None: in `default_recordings` the speakers that
                are in no training set, in any other folder all
    parts       which parts to run of a bench that has parts; empty: all
    effort, worst, pictures
                for `bench interruption`: how thorough, how many of the worst clips to list, the
                folder for the plots
    voices      the box's voices for a bench in which it speaks: the bench runs once with each;
                empty: the voice of the settings
    owner_language
                for the parts over and article of `bench interruption`: language of the words over
                the box
    judge       for `bench voices`: the recogniser that transcribes, pocketsphinx or sherpa
    candidates  for `bench bakeoff`: the files of each model
    model, audio, weights
                for `bench model`: a language model and its audio encoder, or a folder for synthetic
                weights; None: synthetic weights, deleted at the end. `weights` for `bench answer`:
                the folder of synthetic weights, or `e2b` for temporary ones; None: the model of
                the settings
    shared      the folder with recordings of people in conversation (`lab.sim.people`)
    install     for `bench peers`: install the programs that are compared, if they are missing
    """

    settings: Settings
    events: int | None = None
    recordings: Path | None = None
    seed: int = 1
    speakers: Speakers | None = None
    effort: Literal["quick", "default", "full"] = "default"
    worst: int = 0
    pictures: Path | None = None
    parts: tuple[str, ...] = ()
    model: Path | None = None
    audio: Path | None = None
    weights: Path | None = None
    candidates: tuple[tuple[Path, ...], ...] = ()
    voices: tuple[str, ...] = ()
    owner_language: str = "en"
    judge: str = "pocketsphinx"
    default_recordings: Path = RECORDINGS
    shared: Path = SHARED
    install: bool = False

    def chosen(
        self, bench: str, known: Sequence[str], usual: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """The parts to run: those named, else `usual`, else all that are `known`. Raises BenchError
        for an unknown one."""
        unknown = [part for part in self.parts if part not in known]
        if unknown:
            raise BenchError(f"`bench {bench}` has no part `{unknown[0]}`.",
                             f"There are {', '.join(known)}.")  # fmt: skip
        return self.parts or tuple(known if usual is None else usual)

    def recorded(self) -> tuple[list[RecordingFile], list[str]]:
        """The recordings to use, and a sentence for each file that cannot be used; both are empty
        if no folder is named and the default one does not exist. Raises RecordingError for a named
        folder without usable recordings."""
        default = self.default_recordings
        folder = default if self.recordings is None else self.recordings
        if self.recordings is None and not folder.is_dir():
            return [], []
        listing = recordings.find(folder)
        is_default = default.is_dir() and folder.resolve() == default.resolve()
        speakers = self.speakers or ("held-out" if is_default else "all")
        return corpus.of_speakers(listing.sources, speakers), list(listing.problems)


@dataclass
class FigureTable:
    """One table of figures; `events` are the single measurements, for the JSON only.

    The first `names` columns are labels, and left-aligned.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str | float, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    names: int = 1


@dataclass(frozen=True)
class Bench:
    """A row of the list. The module `lab.bench.<name>` has a function `bench(BenchOptions)`.
    `speaks`: the box speaks in it, so the figures depend on its voice."""

    name: str
    takes: str
    about: str
    speaks: bool = False


BENCHES: tuple[Bench, ...] = (
    Bench(
        "stop",
        "17 min",
        "from the owner's first sample to silence; compared with a usual recipe",
        speaks=True,
    ),
    Bench(
        "interruption",
        "24 min",
        "interruptions: stop latency, false pauses, verdicts, seam",
        speaks=True,
    ),
    Bench(
        "peers",
        "",
        "interruptions beside pipecat and livekit-agents, in the same rooms",
        speaks=True,
    ),
    Bench(
        "echo",
        "25 min",
        "echo cancellers compared: detected words over the box, false pauses",
        speaks=True,
    ),
    Bench(
        "announcement",
        "3 min",
        "first announcement in an unknown room: false pauses, words over it detected",
        speaks=True,
    ),
    Bench("seam", "6 min", "samples lost or repeated at a pause that was taken back", speaks=True),
    Bench("answer", "4 min", "from the owner's last sample to the answer, by parts", speaks=True),
    Bench("endpoint", "5 min", "from the last word to the end of the turn; false cut-offs"),
    Bench("cost", "1 min", "CPU, memory and dropouts: idle, listening, speaking", speaks=True),
    Bench("vad", "½ min", "speech detection: µs a frame; all of hearing: share of real time"),
    Bench("recognise", "3 min", "recognition of words over the box and of wake words"),
    Bench("link", "2 min", "MQTT: latency of state changes, cost, recovery from an outage"),
    Bench(
        "panel",
        "2 min",
        "from the button to silence, and from a state to the light; mock pins",
        speaks=True,
    ),
    Bench(
        "page",
        "32 min",
        "effect of the page on the conversation: without viewers, with three, under attack",
        speaks=True,
    ),
    Bench(
        "model",
        "8 min",
        "a model of full size: memory, prefill, threads, aborted encodings, transcripts",
    ),
    Bench(
        "bakeoff",
        "",
        "language models that you have, compared: speed, first token, memory",
    ),
    Bench("codec", "2 min", "a speech head's codec: ms a frame on one thread; on a Pi 5, computed"),
    Bench(
        "head",
        "3 min",
        "a speech head with its codec: ms a frame; ours, and one of full size",
    ),
    Bench("roofline", "", "time of an answer on a Pi 5, computed from published rates"),
    Bench("voices", "1 min", "installed voices: word errors, CPU, first samples, word times"),
    Bench("ring", "1 min", "one-way latency between two processes: ring, Unix socket, Queue"),
)


def run(name: str, options: BenchOptions, json_file: Path | None = None) -> int:
    """Run the bench `name` and print its tables; without a name, list all benches.

    Raises BenchError for an unknown name, StorageError if the JSON cannot be written.
    """
    console = Console(width=None if sys.stdout.isatty() else FILE_COLUMNS)
    if not name:
        console.print(_list())
        return 0
    bench = find(name)
    takes = how_long(bench, options)
    about = f" About {takes}." if takes else ""
    console.print(f"[bold]bench {bench.name}[/]: {bench.about}.{about}")
    load_before = os.getloadavg()[0]
    sheets: list[FigureTable] = []
    for sheet in measured(bench, options):
        sheets.append(sheet)
        console.print()
        _print(console, sheet)
    load_after = os.getloadavg()[0]
    cores = len(os.sched_getaffinity(0))
    console.print(
        f"\nLoad average {load_before:.1f} before, {load_after:.1f} after, on {cores} cores; "
        "this bench's own load is in it."
    )
    if json_file is not None:
        record = {
            "bench": bench.name,
            "seed": options.seed,
            "load": {"before": load_before, "after": load_after, "cores": cores},
            "versions": versions(),
            "sheets": [asdict(sheet) for sheet in sheets],
        }
        write_json(json_file, record)
        console.print(f"Written: {json_file}")
    return 0


def measured(bench: Bench, options: BenchOptions) -> Iterator[FigureTable]:
    """Yield the tables of a bench; if the box speaks in it, run it with each voice in turn and add
    the voice to the titles. The tables of a voice are yielded before the next run starts.

    Raises BenchError if voices are named for a bench in which the box does not speak.
    """
    module = importlib.import_module(f"lab.bench.{bench.name}")
    if not bench.speaks:
        if options.voices:
            raise BenchError(f"In `bench {bench.name}` the box does not speak.", "Leave --voice.")
        yield from module.bench(options)
        return
    by_voice = [_with_voice(options, name) for name in options.voices or ("",)]
    for options_of_voice in by_voice:
        name = candidates(options_of_voice.settings)[0]
        for sheet in module.bench(options_of_voice):
            yield replace(sheet, title=f"{sheet.title} (the box's voice: {name})")


def _with_voice(options: BenchOptions, name: str) -> BenchOptions:
    """The options with this voice. Raises VoiceError if the voice is not installed."""
    if not name:
        return options
    speaking = msgspec.structs.replace(options.settings.speaking, voice=name)
    settings = msgspec.structs.replace(options.settings, speaking=speaking)
    candidates(settings)
    return replace(options, settings=settings)


def how_long(bench: Bench, options: BenchOptions) -> str:
    """The approximate duration; "" if it is unknown for these events or parts."""
    if options.events is not None:
        return ""
    if bench.name != "interruption":
        return "" if options.parts else bench.takes
    if options.effort != "default":
        return "" if options.parts else EFFORTS[options.effort]
    minutes = sum(PARTS_MIN.get(part, 0.0) for part in options.parts or PARTS_MIN)
    return f"{max(1, round(minutes))} min"


def find(name: str) -> Bench:
    """The bench of that name. Raises BenchError that suggests the nearest name."""
    names = [bench.name for bench in BENCHES]
    if name not in names:
        similar = difflib.get_close_matches(name, names, n=1)
        hint = f"Did you mean `{similar[0]}`?" if similar else f"There are {', '.join(names)}."
        raise BenchError(f"There is no bench `{name}`.", hint)
    return BENCHES[names.index(name)]


def spread(values: Sequence[float], digits: int = 1) -> tuple[str | float, ...]:
    """p50, p95, p99, max and n of measured values; dashes and 0 if there are none."""
    if not len(values):
        return ("–", "–", "–", "–", 0)
    figures = [*np.percentile(values, [50, 95, 99]), max(values)]
    return (*(round(float(figure), digits) for figure in figures), len(values))


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write the figures as JSON. Raises StorageError."""
    try:
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}).") from error


def _list() -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("NAME", "takes", "measures"):
        table.add_column(title)
    for bench in BENCHES:
        table.add_row(bench.name, bench.takes, bench.about)
    return table


def _print(console: Console, sheet: FigureTable) -> None:
    table = Table(title=sheet.title, title_justify="left", title_style="", box=None,
                  header_style="bold", pad_edge=False)  # fmt: skip
    for number, title in enumerate(sheet.columns):
        table.add_column(title, justify="left" if number < sheet.names else "right")
    last_label = None
    for row in sheet.rows:
        label = "" if row[0] == last_label else str(row[0])  # a repeated label is printed once
        table.add_row(label, *(str(cell) for cell in row[1:]))
        last_label = row[0]
    console.print(table)
    for note in sheet.notes:
        console.print(note, style="dim", highlight=False)
