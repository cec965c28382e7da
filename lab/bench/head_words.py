"""Compares word times of the voice `head` with an alignment, for the part `words` of `bench head`.

The head says the pocket model's held-out answers, one sentence at a time: the model evaluates each
text in place of an answer that it would sample. hibari, its teacher, says the same sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from appliance.cli.head_speech import said_by_head
from appliance.pcm import Samples
from appliance.settings import Settings
from appliance.voice import factory
from appliance.voice.spoken_words import SpokenWord
from lab.bench.benches import FigureTable
from lab.bench.head_answers import held_out_sentences
from lab.bench.voice_judge import VoiceJudge, words_of
from lab.bench.voice_runs import say, wait_until_ready
from lab.bench.voices import p50_p95, word_errors_ms

TEACHER = "hibari"


class WordErrors:
    """Collects the distances in ms between reported word times and the alignment of the sound."""

    def __init__(self, judge: VoiceJudge) -> None:
        self._judge = judge
        self.begins: list[float] = []
        self.ends: list[float] = []

    def add(self, text: str, sound: Samples, reported: Sequence[SpokenWord]) -> None:
        begins, ends = word_errors_ms(text, reported, self._judge.aligned(words_of(text), sound))
        self.begins += begins
        self.ends += ends


def bench(settings: Settings, count: int | None) -> FigureTable:
    """`count`: number of sentences; None: all. Raises VoiceError or ModelError if the head or its
    teacher is missing."""
    judge, texts = VoiceJudge(), held_out_sentences()[:count]
    head, teacher = WordErrors(judge), WordErrors(judge)
    with closing(factory.open_voice(settings, TEACHER)) as voice:
        wait_until_ready(voice)
        for text in texts:
            head.add(text, *said_by_head(settings, text))
            spoken = say(voice, text)
            teacher.add(text, spoken.sound, spoken.words)
    words = sum(len(words_of(text)) for text in texts)
    table = FigureTable(
        "Distance of the words that a voice tells from an alignment of its sound, ms",
        ("voice", "begins, p50", "p95", "is over, p50", "p95", "words", "of"),
    )
    for name, found in (("head", head), (TEACHER, teacher)):
        figures = (*p50_p95(found.begins), *p50_p95(found.ends))
        table.rows.append((name, *figures, len(found.begins), words))
    table.notes.append(
        f"{len(texts)} sentences of answers that the head was not trained on. The alignment is "
        "pocketsphinx's, with a resolution of 10 ms; sentences with a word that it does not know, "
        "or that it cannot align, are not counted. The head's resolution is a frame, 80 ms."
    )
    return table
