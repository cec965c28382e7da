"""Measures one part of `interlude bench model`, in a process of its own. [process]

In: a job on standard input. Out: the measured values, as the last line of standard output; or an
exit code and one sentence on standard error. The model is loaded and called as by the thinker.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from appliance.errors import InterludeError
from appliance.models.local_model import LocalModel
from appliance.pcm import RATE_HZ
from appliance.runtime.process_table import row
from appliance.settings import Settings
from appliance.think.encoder_files import open_encoder
from appliance.think.factory import usable_threads
from appliance.think.gemma import Gemma
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.think.prompt_state_cache import PromptStateCache
from appliance.tools.table import available
from lab.bench.model_abort import abort_times_ms
from lab.bench.model_attention import attention as measure_attention
from lab.bench.model_batches import batches as measure_batches
from lab.bench.model_drawing import drawing as measure_drawing
from lab.bench.model_memory import Memory, Stopwatch, forget_peak, mapped_mib
from lab.bench.model_reading import by_threads, readings
from lab.bench.model_sequence import sequences
from lab.bench.model_taps import taps as measure_taps

ANSWER_TOKENS = 64  # limit of a generated answer; it only has to put the model to use
CLIP_S = 4.0  # length of a question
ABORT_CLIPS_S = (4.0, 12.0)
WRITE_TIMEOUT_S = 60.0  # timeout for writing the opening's state to disk
ANSWER_WORDS, QUESTION_WORDS = 40, 12  # words in the answer and in the question of a recalled turn


class Job(msgspec.Struct, frozen=True):
    """What to measure, and with which files.

    `repeats`: repetitions of each measurement; `aborts`: number of encodings that are aborted.
    `depths`: tokens in the context of `attention`; `rounds`: measurements of each batch in
    `attention` and `batches`; None: as many as each needs. `encoder`: the folder of the streaming
    audio encoder; "": llama.cpp's encoder is used."""

    part: str
    text: str
    audio: str
    settings: Settings
    encoder: str = ""
    repeats: int = 3
    aborts: int = 60
    seed: int = 1
    depths: tuple[int, ...] = (600, 1500, 3000)  # `thinking.history_tokens` is 3000 by default
    rounds: int | None = None

    @property
    def model(self) -> LocalModel:
        return LocalModel("bench", Path(self.text), Path(self.audio))

    @property
    def threads(self) -> int:
        """The number of threads that the thinker would use."""
        return self.settings.thinking.threads or usable_threads(row("thinker").cores)


class Measure(msgspec.Struct):
    """The values of one measured quantity. `of`: which aspect of `name`, with the unit."""

    name: str
    of: str
    values: list[float] = []


class Measures:
    """Collects measured values; rows keep the order in which they were first added."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Measure] = {}

    def add(self, name: str, **values: float) -> None:
        """Append one value to each row of `name`. `values`: by unit, with `_` for a space."""
        for unit, value in values.items():
            row = self.rows.setdefault((name, unit), Measure(name, unit.replace("_", " "), []))
            row.values.append(float(value))

    def took(self, name: str, watch: Stopwatch) -> None:
        self.add(name, s=watch.wall_s, CPU_s=watch.cpu_s)


@contextmanager
def loaded(
    job: Job, folder: Path | None = None, engine: type[Gemma] = Gemma
) -> Iterator[LocalGemma]:
    """Load the model as the thinker does; `folder`: the cache of the opening's state."""
    thinking = job.settings.thinking
    thinking = msgspec.structs.replace(thinking, answer_tokens=ANSWER_TOKENS, seed=job.seed)
    openings = None if folder is None else PromptStateCache(folder)
    tools = available(job.settings)
    encoder = None
    if job.encoder:
        encoder = open_encoder(job.model.audio, Path(job.encoder), job.threads)
    model = LocalGemma(job.model, thinking, job.threads, tools, engine, openings, encoder=encoder)
    try:
        yield model
        if openings is not None:
            openings.wait_written(WRITE_TIMEOUT_S)
    finally:
        model.close()


def clip(seconds: float, number: int) -> SpeechClip:
    """Noise as a clip; `number` is its seed, so that no cached encoding is used twice."""
    samples = np.random.default_rng(number).normal(0, 3000, round(seconds * RATE_HZ))
    return SpeechClip(number, samples.astype(np.int16))


def prefill_all(model: LocalGemma, history: History) -> int:
    """Prefill everything before the next question, piece by piece. Returns the token count."""
    before = model.progress
    while not model.prefill_idle(history):
        pass
    return model.progress - before


def one_turn(model: LocalGemma, history: History, question: SpeechClip) -> None:
    """Run one turn: a question, an answer up to its token limit, and the idle prefill after it."""
    turn = history.add_turn(question.utterance, [question])
    turn.answer = (
        "".join(piece for piece in model.answer(history, AnswerMetrics()) if isinstance(piece, str))
        or "."
    )
    turn.settled = True
    prefill_all(model, history)


def memory(job: Job, found: Measures) -> None:
    """Resident memory from the start of the process to its peak; only once in each process."""
    snapshots: list[Memory] = [Memory.now()]

    class WatchedGemma(Gemma):
        def open(self, model: Any, tokens: int, threads: int, *, sequences: int = 2) -> None:
            snapshots.append(Memory.now())
            super().open(model, tokens, threads, sequences=sequences)
            snapshots.append(Memory.now())

    def add_memory(name: str) -> None:
        now = Memory.now()
        rest = now.resident - weights - mapped_mib(job.model.text)
        found.add(name, MiB=now.resident, anonymous_MiB=now.anonymous, without_weights_MiB=rest)

    history = History()
    with loaded(job, engine=WatchedGemma) as model:
        start, text, context = snapshots
        after = Memory.now()
        weights = text.anonymous - start.anonymous + after.anonymous - context.anonymous
        found.add("before loading", MiB=start.resident, anonymous_MiB=start.anonymous)
        found.add("weights of its own, of no file", MiB=weights)
        found.add("context of two sequences", MiB=context.resident - text.resident)
        add_memory("after loading")
        found.add("peak while loading", MiB=after.peak)
        forget_peak()
        prefill_all(model, history)
        add_memory("after the opening")
        one_turn(model, history, clip(CLIP_S, 1))
        add_memory("in use: 4 s heard, 64 tokens answered")
        model.transcribe(history.turns[0].clips)
        add_memory("once the turn is written down")
        found.add("peak after loading", MiB=Memory.now().peak)


def opening(job: Job, found: Measures) -> None:
    """Prefill of the opening (persona and tools), and restoring its state from disk."""
    for _ in range(job.repeats):
        with tempfile.TemporaryDirectory(prefix="interlude-opening-") as name:
            folder = Path(name)
            with loaded(job, folder) as model:
                with Stopwatch() as watch:
                    tokens = prefill_all(model, History())
                found.took("read", watch)
                found.add("read", tokens=tokens)
            states = [path.stat().st_size for path in folder.iterdir()]
            found.add("kept on the disk", MiB=sum(states) / 2**20)
            with loaded(job, folder) as model:
                with Stopwatch() as watch:
                    tokens = prefill_all(model, History())
                found.took("taken back", watch)
                found.add("taken back", tokens_read=tokens)


def sequence(job: Job, found: Measures) -> None:
    """Memory and time that a second sequence adds to a context of one."""
    sequences(job.model, job.settings, job.threads, job.repeats, found.add)


def reading(job: Job, found: Measures) -> None:
    """Time saved by skipping layers for tokens without an output, and whether results differ."""
    readings(job.model, job.threads, job.repeats, job.seed, found.add)


def drawing(job: Job, found: Measures) -> None:
    """Generated tokens a second, compared with llama.cpp's own bench."""
    measure_drawing(job.model, job.settings, job.threads, job.repeats, job.seed, found.add)


def threads(job: Job, found: Measures) -> None:
    """Speed by the number of threads, alone and with a busy process beside them."""
    by_threads(job.model, job.repeats, job.seed, found.add)


def attention(job: Job, found: Measures) -> None:
    """The time of a question's batches by the length of the conversation before it."""
    measure_attention(
        job.model, job.threads, job.repeats, job.seed, found.add, job.depths, job.rounds
    )


def batches(job: Job, found: Measures) -> None:
    """The time of a prefill batch by its size."""
    measure_batches(job.model, job.threads, job.repeats, job.seed, found.add, job.rounds)


def abort(job: Job, found: Measures) -> None:
    """The time from the request to abort an encoding until the model's thread is free."""
    with loaded(job) as model:
        for seconds in ABORT_CLIPS_S:
            _end_encodings(model, seconds, job.aborts, found)


def _end_encodings(model: LocalGemma, seconds: float, count: int, found: Measures) -> None:
    numbers = itertools.count(1)

    def next_clip() -> SpeechClip:
        return clip(seconds, next(numbers))

    def encode_completely() -> float:
        encoded = next_clip()
        with Stopwatch() as watch:
            model.encode_ahead(encoded)
        found.took(f"a clip of {seconds:g} s, encoded", watch)
        return watch.wall_s

    for took_ms in abort_times_ms(model, next_clip, encode_completely, count):
        found.add(f"a clip of {seconds:g} s, ended", ms=took_ms)


def transcripts(job: Job, found: Measures) -> None:
    """Time and memory of transcribing a clip while the model is idle."""
    history = History()
    with loaded(job) as model:
        prefill_all(model, history)
        one_turn(model, history, clip(CLIP_S, 1))
        for number in range(2, 2 + job.repeats):
            speech = clip(CLIP_S, number)
            model.encode_ahead(speech)
            forget_peak()
            memory_before, tokens_before = Memory.now(), model.progress
            with Stopwatch() as watch:
                model.transcribe([speech])
            after = Memory.now()
            found.took("a clip of 4 s, written down", watch)
            found.add("a clip of 4 s, written down", tokens=model.progress - tokens_before)
            found.add("memory beside it, at its most", MiB=after.peak - memory_before.resident)
            found.add("memory that stays", MiB=after.resident - memory_before.resident)


def recall(job: Job, found: Measures) -> None:
    """Prefill of the turns from the memory that a new thinker reads after its opening."""
    turns = job.settings.memory.recall_turns
    history = History()
    with loaded(job) as model:
        prefill_all(model, history)
        for number in range(job.repeats):
            history.forget()
            prefill_all(model, history)
            history.load_turns(_recalled(job.settings.thinking.persona, turns, number))
            with Stopwatch() as watch:
                tokens = prefill_all(model, history)
            found.took(f"{turns} turns", watch)
            found.add(f"{turns} turns", tokens=tokens)


def _recalled(text: str, turns: int, number: int) -> list[tuple[str, str, str]]:
    """Turns of words of `text`, so that the vocabulary has them as tokens.

    A turn is (typed text, always empty; transcript; answer)."""
    words = np.array(text.split() or ["a"])
    rng = np.random.default_rng(number)

    def sentence(count: int) -> str:
        return " ".join(rng.choice(words, count)).rstrip(".,") + "."

    return [("", sentence(QUESTION_WORDS), sentence(ANSWER_WORDS)) for _ in range(turns)]


def _encoder(job: Job, found: Measures) -> None:
    """The streaming audio encoder compared with llama.cpp's."""
    from lab.bench.model_encoder import measure

    text, audio = job.model.text, job.model.audio
    measure(text, audio, pieces=job.aborts, repeats=job.repeats, add=found.add)


def taps(job: Job, found: Measures) -> None:
    """The time of reading a speech head's hidden states while an answer is generated."""
    measure_taps(job.model, job.threads, job.repeats, job.seed, found.add)


PARTS: dict[str, Callable[[Job, Measures], None]] = {
    "memory": memory,
    "opening": opening,
    "reading": reading,
    "drawing": drawing,
    "threads": threads,
    "attention": attention,
    "batches": batches,
    "sequence": sequence,
    "abort": abort,
    "encoder": _encoder,
    "transcripts": transcripts,
    "recall": recall,
    "taps": taps,
}


def main() -> int:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    found = Measures()
    try:
        PARTS[job.part](job, found)
    except InterludeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(msgspec.json.encode(list(found.rows.values())).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
