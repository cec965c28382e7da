"""`interlude bench head`: the cost of a speech head with its codec, on one thread, by frame.

pocket  the head that is shipped in the package
real    a head of the size for Gemma 4 E2B, with Mimi's decoder, with random weights
words   the error of the shipped head's word times against an alignment of its sound
The first two parts get random states: their sound is noise, but costs as much as speech.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from appliance.errors import StorageError
from appliance.models.mimi_graph.make import make
from appliance.models.onnx_graph.graph import Form
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.head_weights import SHIPPED
from lab.bench import codec_on_pi, codec_weights, head_weights, head_words
from lab.bench.benches import BenchError, BenchOptions, FigureTable
from lab.bench.codec import FORMS, TEMPORARY
from lab.bench.head_weights import Floats
from lab.bench.model_memory import Memory, Stopwatch

PARTS = ("pocket", "real", "words")
FRAMES = 150  # timed frames of each head; `--events`
ANSWERS = 10  # answers whose first frame is timed
WARM_UP = 3  # frames that are not counted
USED = {".onnx", ".data", ".json"}  # files of a head
TOKENS = 12  # limit of tokens until the first frame of such an answer


@dataclass
class HeadTimes:
    """Times in ms. `wall`, `cpu`: each frame, with the tokens and phones computed for it; `first`:
    CPU time from the last token needed for the first frame to that frame."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)


def bench(options: BenchOptions) -> list[FigureTable]:
    """Raises BenchError for an unknown part, ModelError for a damaged head, StorageError."""
    parts = options.parts or PARTS
    if unknown := set(parts) - set(PARTS):
        raise BenchError(f"There is no part `{min(unknown)}`.", f"There are {', '.join(PARTS)}.")
    sheet = FigureTable(
        "A speech head with its codec, one thread: ms a frame of 80 ms, and resident memory",
        ("head", "p50", "p95", "CPU p50", "CPU p95", "CPU share", "first CPU p50", "p95",
         "files, MiB", "resident, MiB", "frames"),
    )  # fmt: skip
    frames = options.events or FRAMES
    words = [head_words.bench(options.settings, options.events)] if "words" in parts else []
    if "pocket" in parts:
        sheet.rows.append(_row("pocket", SHIPPED, frames, options.seed))
    if "real" in parts:
        for form in FORMS:
            with _real(options.weights, form, options.seed) as folder:
                sheet.rows.append(_row(f"of E2B's size, {form}", folder, frames, options.seed))
    sheet.notes += [
        "CPU share: total CPU time for each second of sound. First: CPU time from the last token "
        f"needed for the first frame, {ANSWERS} answers.",
        "States are random; so are the weights, except those of the shipped head. int8: all "
        "products of the head except those with the codec's codebooks, and Mimi's transformer.",
    ]
    costs = [sheet] if sheet.rows else []
    return [*costs, *words, *(codec_on_pi.sheets() if "real" in parts else [])]


def _row(name: str, folder: Path, frames: int, seed: int) -> tuple[str | float, ...]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        times, grown_mib = pool.submit(measure, folder, frames, seed).result()
    percentiles = [np.percentile(x, at) for x in (times.wall, times.cpu) for at in (50, 95)]
    firsts = [np.percentile(times.first, at) for at in (50, 95)]
    share = sum(times.cpu) / len(times.cpu) / codec_on_pi.FRAME_MS
    size = sum(file.stat().st_size for file in folder.iterdir() if file.suffix in USED) / 2**20
    return (
        name,
        *(float(f"{x:.3g}") for x in percentiles),
        f"{share:.3f}",
        *(float(f"{x:.3g}") for x in firsts),
        round(size, 1),
        round(grown_mib),
        len(times.cpu),
    )


def measure(folder: Path, frames: int, seed: int) -> tuple[HeadTimes, float]:
    """Time a head. Returns the times, and by how many MiB the process has grown."""
    before = Memory.now().resident
    head, rng, found = SpeechHead(folder), np.random.default_rng(seed), HeadTimes()

    def token() -> tuple[Floats, Floats]:
        states = rng.standard_normal((1, head.layers, head.width)).astype(np.float32)
        return states, rng.standard_normal((1, head.width)).astype(np.float32)

    for _ in range(ANSWERS):
        stream = head.begin()
        for _ in range(TOKENS):
            stream.push(*token())
            with Stopwatch() as watch:
                frame = stream.frame()
            if frame is not None:
                found.first.append(1000 * watch.cpu_s)
                break
    stream, wall, cpu = head.begin(), 0.0, 0.0
    while len(found.cpu) < WARM_UP + frames:
        with Stopwatch() as watch:
            frame = stream.frame()
        wall, cpu = wall + 1000 * watch.wall_s, cpu + 1000 * watch.cpu_s
        if frame is None:  # a token or phone was computed: its time counts for the next frame
            stream.push(*token())
            continue
        found.wall.append(wall)
        found.cpu.append(cpu)
        wall = cpu = 0.0
    del found.wall[:WARM_UP], found.cpu[:WARM_UP]
    return found, Memory.now().resident - before


@contextlib.contextmanager
def _real(parent: Path | None, form: Form, seed: int) -> Iterator[Path]:
    """A temporary head of full size, 0.7 GiB on disk. Raises StorageError."""
    root = parent or TEMPORARY
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="interlude-head-", dir=root) as temporary:
            folder = Path(temporary)
            weights, codec = folder / "mimi.safetensors", folder / "codec.json"
            codec_weights.write(weights, seed)
            make(weights, codec, form)
            weights.unlink()
            yield head_weights.write(folder, codec, form, seed)
    except OSError as error:
        raise StorageError(f"{root} cannot be written ({error.strerror}).") from error
