"""`bench answer --weights`: runs a model of full size in the real processes, recipe by recipe.

In: synthetic weights, written here. Out: the parts of an answer's time for each recipe, in columns;
the goals. With `--weights DIR` every event is stored in DIR, and the same command resumes where it
was interrupted; delete DIR/answer-events.jsonl to start again.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from appliance.background_file import write_private
from appliance.runtime import process_table
from appliance.settings import Settings
from lab.bench import answer_recipes
from lab.bench.answer_events import Question, ask, recorded, resident_mib, settle, synthetic
from lab.bench.answer_goals import goals
from lab.bench.answer_recipes import RECIPES, Recipe
from lab.bench.answer_tables import comparison, recipe_table, soak_table
from lab.bench.answer_texts import QUESTIONS
from lab.bench.answer_thinker import RECIPE
from lab.bench.benches import BenchError, BenchOptions, FigureTable
from lab.bench.harness import QUIET, BenchHarness
from lab.bench.model import TEMPORARY, check_memory, spoken_of
from lab.bench.model_memory import available
from lab.bench.model_shape import E2B, Shape
from lab.bench.model_weights import size
from lab.bench.stalls import REPORT_DELAY_NS, watch
from lab.sim.rehearsal_cli import load_over

SYNTHETIC = "e2b"  # `--weights e2b`: temporary weights, deleted at the end
SOAK, SOAK_S = "soak", 1800.0
LISTEN_S = 1.0
SOAK_LISTEN_S = 4.0
WARM_UP = 1  # questions that are not counted: the others follow an existing history


def bench(
    options: BenchOptions,
    shape: Shape = E2B,
    texts: tuple[str, ...] = QUESTIONS,
    listen_s: float = LISTEN_S,
) -> list[FigureTable]:
    """`texts`: the questions where there are no recordings. `listen_s`: playback time of each
    answer, so that sampling runs beside playback.

    Raises BenchError for an unknown part or too little memory, StorageError if the weights cannot
    be written.
    """
    known = [recipe.name for recipe in RECIPES]
    parts = options.parts or tuple(known)
    unknown = [part for part in parts if part not in (*known, SOAK)]
    if unknown:
        raise BenchError(f"`bench answer` has no part `{unknown[0]}`.",
                         f"There are {', '.join(known)} and {SOAK}.")  # fmt: skip
    check_memory(size(shape), available())
    sources, _ = options.recorded()
    with _folder(options) as folder:
        words = spoken_of(options.settings)
        settings = answer_recipes.install(folder, options.settings, words, shape)
        run = Run(folder, settings, options, listen_s)
        return run.tables(parts, _questions(sources, texts, options.seed))


class Run:
    """One run of the bench. `folder`: holds the weights, the events and each recipe's state."""

    def __init__(
        self, folder: Path, settings: Settings, options: BenchOptions, listen_s: float
    ) -> None:
        self._listen_s = listen_s
        self._folder = folder
        self._settings = settings
        self._options = options
        self._log = folder / "answer-events.jsonl"

    def tables(
        self, parts: tuple[str, ...], questions: Callable[[], Iterator[Question]]
    ) -> list[FigureTable]:
        events: dict[str, list[dict[str, Any]]] = {}
        sheets: list[FigureTable] = []
        with contextlib.suppress(KeyboardInterrupt):
            for recipe in (r for r in RECIPES if r.name in parts):
                events[recipe.name] = self._events(recipe)
                wanted = self._options.events or recipe.events
                if len(events[recipe.name]) < wanted:
                    self._measure(recipe, wanted, questions(), events[recipe.name])
            if SOAK in parts:
                sheets.append(self._soak(questions()))
        measured = {name: found for name, found in events.items() if found}
        if measured:
            sheets = [
                comparison(measured),
                *(recipe_table(name, measured[name]) for name in measured),
                *sheets,
            ]
            sheets.append(goals(measured))
        return sheets

    def _measure(
        self,
        recipe: Recipe,
        wanted: int,
        questions: Iterator[Question],
        events: list[dict[str, Any]],
    ) -> None:
        done = len(events)
        _print_progress(f"{recipe.name}: {recipe.about}; {wanted - done} questions")
        questions = itertools.islice(questions, done, None)  # the same ones for all recipes

        def act(stage: BenchHarness) -> None:
            settle(stage)
            for number in range(-WARM_UP, wanted - done):
                event = ask(stage, next(questions), self._listen_s)
                settle(stage)
                event["resident_mib"] = resident_mib(stage)
                event["dropouts"] = sum(stage.dropouts.values())
                if number >= 0:
                    events.append(event)
                    self._store(recipe, event)

        self._play(recipe, act)

    def _soak(self, questions: Iterator[Question]) -> FigureTable:
        """Ask questions without a pause for `SOAK_S`, and count the dropouts of the card."""
        recipe = RECIPES[0]
        _print_progress(f"{SOAK}: {recipe.about}; {SOAK_S / 60:g} minutes")
        events: list[dict[str, Any]] = []
        found: list[FigureTable] = []

        def act(stage: BenchHarness) -> None:
            settle(stage)
            started_s, before = time.monotonic(), dict(stage.dropouts)
            reported_before = len(stage.dropouts_reported_ns)
            limit = self._options.events or sys.maxsize
            with watch(process_table.row("playback").cores[0]) as stall_watch:
                while len(events) < limit and time.monotonic() - started_s < SOAK_S:
                    events.append(ask(stage, next(questions), SOAK_LISTEN_S))
                    stage.wait(0.5)
                stage.wait(REPORT_DELAY_NS / 1e9)
            memory_mib = resident_mib(stage)
            dropouts = {name: count - before[name] for name, count in stage.dropouts.items()}
            excused = stall_watch.excused(stage.dropouts_reported_ns[reported_before:])
            seconds = time.monotonic() - started_s
            found.append(
                soak_table(events, seconds, dropouts, excused, stall_watch.stalls, memory_mib)
            )

        self._play(recipe, act)
        return found[0]

    def _play(self, recipe: Recipe, act: Callable[[BenchHarness], None]) -> None:
        state = self._folder / "state" / recipe.name
        state.mkdir(parents=True, exist_ok=True)
        write_private(state / RECIPE, recipe.thinker.encode())
        settings = load_over(self._settings, recipe.changes)
        parts = tuple(row.name for row in process_table.PROCESSES)
        rows = answer_recipes.rows()
        BenchHarness(QUIET, settings, act, parts=parts, state=state, replaced=rows).play()

    def _events(self, recipe: Recipe) -> list[dict[str, Any]]:
        """The stored events of a recipe with the same settings, seed and recordings."""
        if not self._log.is_file():
            return []
        lines = self._log.read_text(encoding="utf-8").splitlines()
        rows = [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]
        return [row for row in rows if row["made_of"] == self._fingerprint(recipe)]

    def _store(self, recipe: Recipe, event: dict[str, Any]) -> None:
        event["made_of"] = self._fingerprint(recipe)
        with self._log.open("ab") as log:
            log.write(msgspec.json.encode(event) + b"\n")

    def _fingerprint(self, recipe: Recipe) -> str:
        question_source = (recipe.changes, self._options.seed, str(self._options.recordings))
        key = repr((msgspec.to_builtins(self._settings), question_source))
        return f"{recipe.name} {hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _questions(
    sources: list[Any], texts: tuple[str, ...], seed: int
) -> Callable[[], Iterator[Question]]:
    """A function that restarts the same sequence of questions: recorded orders of about four
    seconds, or sentences by espeak-ng."""

    def questions() -> Iterator[Question]:
        rng = random.Random(seed)  # noqa: S311 -- chance, not secrecy
        orders = recorded(sources, rng)
        return itertools.cycle(orders) if orders else synthetic(texts, rng)

    return questions


@contextlib.contextmanager
def _folder(options: BenchOptions) -> Iterator[Path]:
    assert options.weights is not None
    if options.weights != Path(SYNTHETIC):
        options.weights.mkdir(parents=True, exist_ok=True)
        yield options.weights
        return
    with tempfile.TemporaryDirectory(prefix="interlude-answer-", dir=TEMPORARY) as folder:
        yield Path(folder)


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr)
