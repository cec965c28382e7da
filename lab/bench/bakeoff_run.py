"""Measures one candidate of `interlude bench bakeoff`, in a process of its own. [process]

In: a job on standard input. Out: the measured values, as the last line of standard output; or an
exit code and one sentence on standard error.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

from appliance.errors import InterludeError
from appliance.models.local_model import LocalModel
from appliance.think.context import BATCH
from appliance.think.encoder_files import open_encoder
from appliance.think.gemma import Gemma
from appliance.think.history import History
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.tools.table import available
from lab.bench import bakeoff_litert
from lab.bench.bakeoff_job import DRAWN_TOKENS, PROMPT_TOKENS, Found, Job, litert
from lab.bench.model_memory import Memory, Stopwatch, forget_peak
from lab.bench.model_parts import CLIP_S, clip, prefill_all


def measure(job: Job) -> Found:
    """Measure with the runtime that the files are made for. Raises InterludeError."""
    if litert(job.files):
        return bakeoff_litert.measure(job)
    found = Found()
    text, audio = map(Path, job.files)
    files = LocalModel(text.name, text, audio)
    _read_and_draw(files, job, found)
    forget_peak()
    with tempfile.TemporaryDirectory(prefix="interlude-encoder-") as folder:
        _ask(files, Path(folder), job, found)
    return found


def _read_and_draw(files: LocalModel, job: Job, found: Found) -> None:
    """Time prefill and decoding of random tokens in an empty context."""
    gemma = Gemma(
        files.text, files.audio, context_tokens=PROMPT_TOKENS + DRAWN_TOKENS, threads=job.threads,
        sampling=files.sampling,
    )  # fmt: skip
    try:
        count = gemma.context_tokens - DRAWN_TOKENS
        size = gemma.vocabulary.size
        drawn = np.random.default_rng(job.seed).integers(size // 2, size, count + DRAWN_TOKENS)
        tokens = [int(token) for token in drawn]
        for _ in range(job.repeats):
            gemma.roll_back(0)
            began_s = time.monotonic()
            for start in range(0, count, BATCH):
                gemma.decode(tokens[start : min(start + BATCH, count)], wanted=False)
            read_s = time.monotonic()
            for token in tokens[count:]:
                gemma.decode([token], wanted=True)
            found.prompt_per_s.append(count / (read_s - began_s))
            found.drawn_per_s.append(DRAWN_TOKENS / (time.monotonic() - read_s))
    finally:
        gemma.close()


def _ask(files: LocalModel, folder: Path, job: Job, found: Found) -> None:
    """Time the first token of a question as the thinker runs it, without speculative prefill."""
    thinking = msgspec.structs.replace(job.settings.thinking, seed=job.seed)
    encoder = open_encoder(files.audio, folder, job.threads)
    tools = available(job.settings)
    model = LocalGemma(files, thinking, job.threads, tools, encoder=encoder)
    try:
        history = History()
        prefill_all(model, history)
        for number in range(1, job.repeats + 1):
            history.forget()
            prefill_all(model, history)
            history.add_turn(number, [clip(CLIP_S, number)])
            with Stopwatch() as watch:
                next(iter(model.answer(history, AnswerMetrics())), None)
            found.first_token_s.append(watch.wall_s)
        memory = Memory.now()
        found.resident_mib, found.peak_mib = memory.resident, memory.peak
    finally:
        model.close()


def main() -> int:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    try:
        found = measure(job)
    except InterludeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(msgspec.json.encode(found).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
