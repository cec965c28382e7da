"""Compares the cost of the streaming audio encoder and llama.cpp's, of the same file, one thread.

Times are per second of sound. Each call of the streaming encoder reads all weights, so short pieces
cost more; llama.cpp's encodes a clip that has grown from its start again.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from appliance.models.local_model import Sampling
from appliance.models.onnx_graph.graph import Form
from appliance.pcm import RATE_HZ
from appliance.think.encoder_files import best_form, prepare
from appliance.think.gemma import Gemma
from appliance.think.history import SpeechClip
from appliance.think.streaming_encoder import StreamingEncoder
from lab.bench.model_abort import abort_times_ms
from lab.bench.model_memory import Memory, Stopwatch, forget_peak

LONGEST_S = 30  # limit of a clip
QUESTION_S = 4.0
PIECES_S = (1.0, 0.2)
REST_S = (0.98, 0.02)  # sound left after the last piece: most and least, in whole ring slots
TEMPORARY = Path("/var/tmp")  # noqa: S108 - for large files; /tmp may be a tmpfs

Add = Callable[..., None]
Samples = npt.NDArray[np.int16]
Rows = npt.NDArray[np.float32]


def measure(text: Path, audio: Path, *, pieces: int, repeats: int, add: Add) -> None:
    """`pieces`: the number of timed pieces of each length, and of aborted encodings."""
    forms = dict.fromkeys([best_form(audio), "fp32"])  # what the box uses, and the exact one
    exact: list[Rows] = []
    questions = [sound(QUESTION_S, seed) for seed in range(repeats)]
    with tempfile.TemporaryDirectory(prefix="interlude-encoder-", dir=TEMPORARY) as folder:
        graphs = {form: _converted(audio, Path(folder) / form, form, add) for form in forms}
        rows_of_forms = []
        for form, graph in graphs.items():
            encoder = _loaded(graph, form, add)
            _cost(encoder, form, pieces, add)
            if form == next(iter(forms)):
                _abort(encoder, form, pieces, add)
            rows_of_forms.append([encoder.encode(question).rows for question in questions])
            del encoder
        exact = rows_of_forms[-1]
        for form, rows in zip(forms, rows_of_forms, strict=True):
            if form != "fp32":
                _differ(f"{form} against fp32", rows, exact, add)
    _llama(text, audio, questions, exact, add)


def sound(seconds: float, seed: int) -> Samples:
    """Noise; one sample longer, as llama.cpp needs it to complete the last token."""
    samples = np.random.default_rng(seed).normal(0, 3000, round(seconds * RATE_HZ) + 1)
    return samples.astype(np.int16)


def _converted(audio: Path, folder: Path, form: Form, add: Add) -> Path:
    with Stopwatch() as watch:
        graph = prepare(audio, folder, form)
    size = sum(path.stat().st_size for path in folder.iterdir())
    add(f"{form}, made of the model's file", s=watch.wall_s, CPU_s=watch.cpu_s, MiB=size / 2**20)
    return graph


def _loaded(graph: Path, form: Form, add: Add) -> StreamingEncoder:
    forget_peak()
    before = Memory.now()
    with Stopwatch() as watch:
        encoder = StreamingEncoder(graph, threads=1)
    add(f"{form}, loaded", s=watch.wall_s, CPU_s=watch.cpu_s)
    add(f"{form}, loaded", MiB=Memory.now().resident - before.resident)
    encoder.encode(sound(LONGEST_S, 0))
    add(f"{form}, after 30 s of sound", MiB=Memory.now().resident - before.resident)
    add(f"{form}, at its most", MiB=Memory.now().peak - before.resident)
    return encoder


def _cost(encoder: StreamingEncoder, form: Form, pieces: int, add: Add) -> None:
    for seconds in PIECES_S:
        for number, watch in enumerate(itertools.islice(_pieces(encoder, seconds), pieces)):
            position_s = seconds * (number % round(LONGEST_S / seconds))
            _took(f"{form}, pieces of {seconds:g} s", watch, seconds, add)
            if seconds == 1.0 and (position_s < 10 or position_s >= 20):
                part = "seconds 1 to 10" if position_s < 10 else "seconds 21 to 30"
                _took(f"{form}, pieces of 1 s, {part}", watch, seconds, add)
    question = sound(QUESTION_S, 1)
    for rest_s in REST_S:
        state = encoder.encode(question[: 3 * RATE_HZ], whole=False)
        clip = question[: round((3 + rest_s) * RATE_HZ)]
        for _ in range(pieces):
            with Stopwatch() as watch:
                encoder.encode(clip, state)
            add(f"{form}, after the last word, {rest_s:g} s left",
                ms=1000 * watch.wall_s, CPU_ms=1000 * watch.cpu_s)  # fmt: skip


def _pieces(encoder: StreamingEncoder, seconds: float) -> Iterator[Stopwatch]:
    """Encode clips of 30 s piece by piece; yields the time of each piece."""
    length = round(seconds * RATE_HZ)
    for seed in itertools.count():
        clip, state = sound(LONGEST_S, seed), None
        for end in range(length, len(clip), length):
            with Stopwatch() as watch:
                state = encoder.encode(clip[:end], state, whole=False)
            yield watch


class _Alone:
    """Adapts an encoder to the interface that `abort_times_ms` expects."""

    def __init__(self, encoder: StreamingEncoder) -> None:
        self._encoder = encoder
        self.interrupt, self.resume = encoder.interrupt, encoder.resume

    def encode_ahead(self, clip: SpeechClip) -> None:
        self._encoder.encode(clip.samples)


def _abort(encoder: StreamingEncoder, form: Form, count: int, add: Add) -> None:
    clip = SpeechClip(1, sound(QUESTION_S, 1))

    def encode_completely() -> float:
        with Stopwatch() as watch:
            encoder.encode(clip.samples)
        return watch.wall_s

    for took_ms in abort_times_ms(_Alone(encoder), lambda: clip, encode_completely, count):
        add(f"{form}, a clip of 4 s, ended", ms=took_ms)


def _llama(text: Path, audio: Path, questions: list[Samples], exact: list[Rows], add: Add) -> None:
    gemma = Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling())
    try:
        rows = []
        for question in questions:
            with Stopwatch() as watch:
                rows.append(gemma.encode(question))
            _took("llama.cpp, 4 s at once", watch, QUESTION_S, add)
            with Stopwatch() as watch:
                for second in range(1, 5):
                    gemma.encode(question[: second * RATE_HZ])
            _took("llama.cpp, anew each second up to 4 s", watch, QUESTION_S, add)
        _differ("fp32 against llama.cpp", exact, rows, add)
    finally:
        gemma.close()


def _took(name: str, watch: Stopwatch, seconds: float, add: Add) -> None:
    add(name, s_a_second=watch.wall_s / seconds, CPU_s_a_second=watch.cpu_s / seconds)


def _differ(name: str, found: list[Rows], wanted: list[Rows], add: Add) -> None:
    for rows, others in zip(found, wanted, strict=True):
        rows_in_both = min(len(rows), len(others))
        error = np.linalg.norm(rows[:rows_in_both] - others[:rows_in_both]) / np.linalg.norm(
            others[:rows_in_both]
        )
        add(name, percent=100 * float(error))
