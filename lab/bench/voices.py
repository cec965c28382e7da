"""`interlude bench voices`: compares the voices installed on this machine, on the same sentences.

It measures a recogniser's word errors, CPU time, the delay of the first samples and of a stop, and
the error of the reported word times. The recogniser runs in this process, after the voice is done.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import psutil

from appliance.errors import VoiceError
from appliance.messages.limits import MAX_WORDS
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import Settings
from appliance.voice import factory
from appliance.voice.interface import Voice
from appliance.voice.program import ProgramVoice
from appliance.voice.spoken_words import SpokenWord
from lab.bench.benches import BenchError, BenchOptions, FigureTable
from lab.bench.judge_sherpa import SherpaJudge
from lab.bench.voice_judge import AlignedWord, VoiceJudge, words_of, wrong_words
from lab.bench.voice_runs import SaidSentence, say, stop_times_ms, wait_until_ready
from lab.bench.voice_sentences import SENTENCES

ROUNDS = 3  # of the same sentences, for the first samples: p95 needs sixty values
STOPS = 60  # of each program, unless `--events` is given
WARM_UP = "Good morning."  # said first, and not measured
COLUMNS = (
    "voice", "words wrong", "of", "CPU s/s", "first p50", "p95", "MiB", "stop p50", "p95",
    "begins p50", "p95", "ends p50", "p95", "of",
)  # fmt: skip


@dataclass
class VoiceFigures:
    """The figures of one voice.

    cpu_s      CPU time of its program or programs for one round of the sentences
    sound_s    seconds of synthesised sound
    resident   MiB of its program; None for a voice with a process for each sentence
    first_ms, stop_ms
               delay of the first samples of each sentence, and of each stop
    begins_ms, ends_ms
               distance of each word's reported start and end from the alignment, if it reports them
    """

    words: int = 0
    wrong: int = 0
    cpu_s: float = 0.0
    sound_s: float = 0.0
    resident: float | None = None
    first_ms: list[float] = field(default_factory=list)
    stop_ms: list[float] = field(default_factory=list)
    begins_ms: list[float] = field(default_factory=list)
    ends_ms: list[float] = field(default_factory=list)

    def row(self, name: str) -> tuple[str | float, ...]:
        return (
            name,
            f"{100 * self.wrong / self.words:.1f} %",
            self.words,
            f"{self.cpu_s / self.sound_s:.3f}",
            *p50_p95(self.first_ms),
            "–" if self.resident is None else round(self.resident),
            *p50_p95(self.stop_ms),
            *p50_p95(self.begins_ms),
            *p50_p95(self.ends_ms),
            len(self.begins_ms),
        )


def bench(options: BenchOptions, judge: VoiceJudge | None = None) -> list[FigureTable]:
    """One table, a row for each voice. `judge`: None for the thorough one."""
    sentences = SENTENCES[: options.events]
    sheet = FigureTable(
        f"Voices, {len(sentences)} sentences each; first samples, stops and words' errors in ms",
        COLUMNS,
    )
    judge, writer = judge or VoiceJudge(), writer_of(options)
    for name in factory.installed(options.settings):
        try:
            found = measure(
                options.settings, name, sentences, options.events or STOPS, judge, writer
            )
        except VoiceError as error:
            sheet.rows.append((name, *("–" for _ in COLUMNS[1:])))
            sheet.notes.append(f"{name}: {error}")
            continue
        sheet.rows.append(found.row(name))
    sheet.notes += [
        f"Words wrong: word errors in the transcript by {options.judge}, with a model of English. "
        "Use them as a ranking only: people understand espeak-ng far better than it does.",
        "Stop: from the request until its program reports that it stopped. Begins, ends: distance "
        "from pocketsphinx's alignment of the same words, which has a resolution of 10 ms.",
        "espeak-ng is a process for each sentence; its start is included in the CPU time, and no "
        "memory is given. The voice head has no row, as it speaks only the model's own tokens.",
    ]
    return [sheet]


class Writer(Protocol):
    """A recogniser that transcribes a sound without knowing the text."""

    def heard(self, sound: Samples) -> list[str]: ...


def writer_of(options: BenchOptions) -> Writer | None:
    """The recogniser of `--judge sherpa`; None for the default. Raises BenchError."""
    if options.judge == "pocketsphinx":
        return None
    if options.judge != "sherpa" or options.model is None:
        raise BenchError(
            f"The judge {options.judge} cannot be used.",
            "Give `--judge sherpa --model DIR`, the folder of a streaming transducer.",
        )
    return SherpaJudge(options.model)


def measure(
    settings: Settings, name: str, sentences: Sequence[str], stops: int, judge: VoiceJudge,
    writer: Writer | None = None,
) -> VoiceFigures:  # fmt: skip
    """Measure one voice. Raises VoiceError if the voice cannot speak."""
    found = VoiceFigures()
    children_s = _children_cpu_s()
    with closing(factory.open_voice(settings, name)) as voice:
        wait_until_ready(voice)
        if isinstance(voice, ProgramVoice):
            say(voice, WARM_UP)
            assert voice.pid is not None
            program = psutil.Process(voice.pid)
            before_s = _cpu_s(program)
            spoken = [say(voice, text) for text in sentences]
            found.cpu_s = _cpu_s(program) - before_s
            found.resident = program.memory_info().rss / 2**20
            found.first_ms = _more_first_delays(voice, sentences)
            text = " ".join(SENTENCES)[:MAX_WORDS]
            found.stop_ms = stop_times_ms(voice.command, text, stops)
        else:
            spoken = [say(voice, text) for text in sentences]
            found.first_ms = _more_first_delays(voice, sentences)
    if found.resident is None:  # each sentence was a process, and all of them have been reaped
        found.cpu_s = (_children_cpu_s() - children_s) / ROUNDS
    for text, sentence in zip(sentences, spoken, strict=True):
        _judge(found, text, sentence, judge, writer or judge)
    return found


def _more_first_delays(voice: Voice, sentences: Sequence[str]) -> list[float]:
    """The delay of the first samples in all rounds but the first."""
    return [say(voice, text).first_ms for text in (*sentences,) * (ROUNDS - 1)]


def _judge(
    found: VoiceFigures, text: str, spoken: SaidSentence, judge: VoiceJudge, writer: Writer
) -> None:
    words = words_of(text)
    found.words += len(words)
    found.wrong += wrong_words(words, writer.heard(spoken.sound))
    found.sound_s += len(spoken.sound) / RATE_HZ
    found.first_ms.append(spoken.first_ms)
    if spoken.words:
        begins, ends = word_errors_ms(text, spoken.words, judge.aligned(words, spoken.sound))
        found.begins_ms += begins
        found.ends_ms += ends


def word_errors_ms(
    text: str, reported: Iterable[SpokenWord], aligned: Sequence[AlignedWord]
) -> tuple[list[float], list[float]]:
    """The distance in ms of each word's start and end from the alignment; empty if the reported
    and the aligned words differ."""
    words = [(words_of(text[word.begin : word.end]), word) for word in reported]
    if [names for names, _ in words] != [[word.word] for word in aligned]:
        return [], []
    pairs = [(word, aligned_word) for (_, word), aligned_word in zip(words, aligned, strict=True)]
    return (
        [1000 * abs(word.at - aligned_word.begin) / RATE_HZ for word, aligned_word in pairs],
        [1000 * abs(word.over - aligned_word.end) / RATE_HZ for word, aligned_word in pairs],
    )


def p50_p95(values: Sequence[float]) -> tuple[str | float, str | float]:
    """p50 and p95 for a table; dashes if there are no values."""
    if not len(values):
        return "–", "–"
    p50, p95 = np.percentile(values, [50, 95])
    return round(float(p50), 1), round(float(p95), 1)


def _cpu_s(program: psutil.Process) -> float:
    times = program.cpu_times()
    return float(times.user + times.system)


def _children_cpu_s() -> float:
    """CPU time of all children of this process that have ended and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
