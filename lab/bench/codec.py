"""`interlude bench codec`: the cost of a codec's decoder, on one thread, by frame.

Without a codec's manifest it writes a file of Mimi's size with random weights, and converts it to
Mimi's decoder as the box does. On a machine that does other work, compare the CPU times.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from appliance.errors import StorageError
from appliance.models.mimi_graph.make import make
from appliance.models.onnx_graph.graph import Form
from appliance.voice.head.codec import Codec
from lab.bench import codec_on_pi, codec_weights
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.model_memory import Memory, Stopwatch

CALLS = 150  # for each number of frames; `--events`
WARM_UP = 3  # calls that are not counted
FRAMES_A_CALL = (1, 2, 4)
FORMS: tuple[Form, ...] = ("fp32", "int8")
TEMPORARY = Path("/var/tmp")  # noqa: S108 - for large files; /tmp may be a tmpfs


def bench(options: BenchOptions) -> list[FigureTable]:
    """A table of times, one of sizes, and for Mimi the times computed for a Pi.

    Raises ModelError for a manifest without a codec, StorageError if the disk is full.
    """
    calls = options.events or CALLS
    times = FigureTable(
        "A frame of 80 ms, one thread: ms, and CPU as a share of real time",
        ("codec", "frames a call", "p50", "p95", "CPU p50", "CPU p95", "share", "calls"),
        names=2,
    )
    sizes = FigureTable(
        "Its files and its process", ("codec", "made in, CPU s", "files, MiB", "resident, MiB")
    )
    if options.model is not None:
        _measure(options.model, options.model.stem, "–", calls, options.seed, times, sizes)
        return [times, sizes]
    with _folder(options.weights) as folder:
        weights = folder / "mimi-random.safetensors"
        try:
            if not weights.is_file():
                codec_weights.write(weights, options.seed)
        except OSError as error:
            raise StorageError(f"{folder} cannot be written ({error.strerror}).") from error
        for form in FORMS:
            manifest = folder / f"mimi-{form}.json"
            with Stopwatch() as watch:
                make(weights, manifest, form)
            cpu_text = f"{watch.cpu_s:.1f}"
            _measure(manifest, f"Mimi, {form}", cpu_text, calls, options.seed, times, sizes)
    times.notes.append("Random weights of Mimi's size; int8 is its transformer, the rest is fp32.")
    return [times, sizes, *codec_on_pi.sheets()]


def _measure(
    manifest: Path, name: str, cpu_text: str, calls: int, seed: int,
    times: FigureTable, sizes: FigureTable,
) -> None:  # fmt: skip
    codec = Codec(manifest)
    rng = np.random.default_rng(seed)
    codebooks = codec.manifest.codebooks
    frame_ms = 1000 * codec.frame_samples / codec.rate_hz
    for frames in FRAMES_A_CALL:
        state, wall, cpu = codec.start(), [], []
        for _ in range(WARM_UP + calls):
            codes = rng.integers(0, codec.manifest.codes, (frames, codebooks))
            with Stopwatch() as watch:
                _, state = codec.decode(codes, state)
            wall.append(1000 * watch.wall_s / frames)
            cpu.append(1000 * watch.cpu_s / frames)
        figures = [np.percentile(x[WARM_UP:], at) for x in (wall, cpu) for at in (50, 95)]
        share = f"{float(figures[2]) / frame_ms:.3f}"
        cells = [float(f"{figure:.3g}") for figure in figures]
        times.rows.append((name, str(frames), *cells, share, calls))
    parts = [p for p in manifest.parent.iterdir() if p.stem == Path(codec.manifest.graph).stem]
    size = sum(path.stat().st_size for path in parts if path.suffix != ".safetensors") / 2**20
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        grown_mib = pool.submit(_grown_mib, manifest).result()
    sizes.rows.append((name, cpu_text, round(size, 1), round(grown_mib)))


def _grown_mib(manifest: Path) -> float:
    """By how many MiB a new process grows when it loads and uses the codec."""
    before = Memory.now().resident
    codec = Codec(manifest)
    state = codec.start()
    for _ in range(WARM_UP):
        _, state = codec.decode(np.zeros(codec.manifest.codebooks, np.int64), state)
    return Memory.now().resident - before


@contextlib.contextmanager
def _folder(weights: Path | None) -> Iterator[Path]:
    if weights is not None:
        weights.mkdir(parents=True, exist_ok=True)
        yield weights
        return
    with tempfile.TemporaryDirectory(prefix="interlude-codec-", dir=TEMPORARY) as folder:
        yield Path(folder)
