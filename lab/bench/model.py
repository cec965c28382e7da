"""`interlude bench model`: memory and time of a language model of full size.

Without a model's files it writes synthetic weights of Gemma 4 E2B: they cost as much as the real
ones, but their output is meaningless. Each part runs in a process of its own.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from appliance.errors import ModelError
from appliance.settings import Settings
from appliance.think import encoder_files, prompt
from appliance.tools.table import available, declaration
from lab.bench import model_weights
from lab.bench.benches import BenchError, BenchOptions, FigureTable
from lab.bench.model_memory import available as available_memory
from lab.bench.model_parts import PARTS, Job, Measure
from lab.bench.model_shape import E2B
from lab.bench.model_tables import sheet

ABORTS = 60  # for each length of a clip
REPEATS = 3  # of everything else
# Free memory that is required, as a multiple of the files' size: the files' pages, a repacked copy
# of half of them, the context, and temporary memory of the load. 5.9 GiB for E2B.
MEMORY_OF_FILES = 1.7
TEMPORARY = Path("/var/tmp")  # noqa: S108 - for large files; /tmp may be a tmpfs


def bench(
    options: BenchOptions, measure: Callable[[Job], list[Measure]] | None = None
) -> list[FigureTable]:
    """A table for each part. `measure`: measures one; None: in a process of its own.

    Raises BenchError for an unknown part or too little memory, ModelError for unusable files,
    StorageError if the synthetic ones cannot be written.
    """
    parts = options.chosen("model", tuple(PARTS))
    if (options.model is None) != (options.audio is None):
        raise BenchError("A model needs both of its files.",
                         "Give `--model FILE` and `--audio FILE`.")  # fmt: skip
    check_memory(_bytes(options), available_memory())
    with _files(options) as (text, audio), _encoder(audio) as encoder:
        job = Job(
            "", str(text), str(audio), options.settings, str(encoder),
            min(REPEATS, options.events or REPEATS), options.events or ABORTS, options.seed,
        )  # fmt: skip
        sheets = _sheets(job, parts, measure or in_a_process)
    weights = "synthetic weights of E2B" if options.model is None else options.model.name
    sheets[-1].notes.append(f"{weights}, {job.threads} threads, context of "
                            f"{options.settings.thinking.context_tokens} tokens.")  # fmt: skip
    return sheets


def _sheets(
    job: Job, parts: Sequence[str], measure: Callable[[Job], list[Measure]]
) -> list[FigureTable]:
    """Measure the parts in turn; after Ctrl-C return the tables of those that are complete."""
    sheets: list[FigureTable] = []
    try:
        for part in dict.fromkeys(parts):
            measures = _measured(job, part, measure)
            sheets.append(sheet(part, measures))
    except KeyboardInterrupt:
        if not sheets:
            raise
        sheets[-1].notes.append("Ended early: the remaining parts are missing.")
    return sheets


def check_memory(files_bytes: int, free_bytes: int) -> None:
    """Raises BenchError if a model of that size does not fit into the free memory."""
    wanted = MEMORY_OF_FILES * files_bytes
    if wanted > free_bytes:
        raise BenchError(
            f"A model of this size takes {wanted / 2**30:.1f} GiB of memory, and "
            f"{free_bytes / 2**30:.1f} GiB are free.",
            "End other programs, or measure a smaller model with `--model` and `--audio`.",
        )


def _bytes(options: BenchOptions) -> int:
    if options.model is None or options.audio is None:
        return model_weights.size(E2B)
    try:
        return options.model.stat().st_size + options.audio.stat().st_size
    except OSError as error:
        raise ModelError(f"{error.filename}: cannot be read ({error.strerror}).") from error


@contextlib.contextmanager
def _files(options: BenchOptions) -> Iterator[tuple[Path, Path]]:
    """The named files, or synthetic ones: in the folder `weights`, else in a temporary one."""
    if options.model is not None and options.audio is not None:
        yield options.model, options.audio
        return
    texts = spoken_of(options.settings)
    if options.weights is not None:
        yield _synthetic(options.weights, texts)
        return
    with tempfile.TemporaryDirectory(prefix="interlude-model-", dir=TEMPORARY) as folder:
        yield _synthetic(Path(folder), texts)


@contextlib.contextmanager
def _encoder(audio: Path) -> Iterator[Path]:
    """A temporary folder with the streaming encoder, converted once for all parts."""
    with tempfile.TemporaryDirectory(prefix="interlude-encoder-", dir=TEMPORARY) as folder:
        with contextlib.suppress(ModelError, OSError):  # the parts then use llama.cpp's, and log it
            encoder_files.prepare(audio, Path(folder))
        yield Path(folder)


def _synthetic(folder: Path, texts: Sequence[str]) -> tuple[Path, Path]:
    _print_progress(f"synthetic weights in {folder}")
    return model_weights.write(E2B, folder, texts)


def spoken_of(settings: Settings) -> list[str]:
    """The texts of a prompt before the first question, whose words the vocabulary needs."""
    thinking = settings.thinking
    declared = (declaration(tool) for tool in available(settings))
    return [thinking.persona, thinking.instruction, prompt.TRANSCRIBE, "system\nuser\nmodel",
            *declared]  # fmt: skip


def _measured(job: Job, part: str, measure: Callable[[Job], list[Measure]]) -> list[Measure]:
    """Measure a part once; the part `memory` several times, each in another process, as memory
    freed by one run would change the figures of the next."""
    _print_progress(part)
    job = msgspec.structs.replace(job, part=part)
    if part != "memory":
        return measure(job)
    measures = measure(job)
    for _ in range(job.repeats - 1):
        for row, again in zip(measures, measure(job), strict=True):
            row.values += again.values
    return measures


def in_a_process(job: Job) -> list[Measure]:
    """Raises BenchError with the last line of its standard error if the process fails."""
    command = [sys.executable, "-m", "lab.bench.model_parts"]
    done = subprocess.run(command, input=msgspec.json.encode(job), capture_output=True, check=False)
    if done.returncode:
        last_line = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise BenchError(f"The part `{job.part}` ended with code {done.returncode}: {last_line}")
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=list[Measure])


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr)
