"""The thinker of `bench answer --weights`: it computes as usual, but recites answers. [process]

Random weights yield meaningless tokens without clauses. Here every token is computed and sampled as
usual, and then replaced by the next token of a written answer. It can also leave out some of the
box's optimisations (answer_recipes.py).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from appliance.runtime.worker import Worker
from appliance.think import thinker
from appliance.think.answer_drawing import AnswerPiece
from appliance.think.context import SEQUENCES, Run
from appliance.think.gemma import Gemma
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.think.sentences import SentenceSplitter
from lab.bench.all_layers import compute_all_layers
from lab.bench.answer_texts import ANSWERS
from lab.bench.model_vocabulary import END_OF_TURN

RECIPE = "memory/states/bench-answer.txt"  # in the state folder, where the thinker may read
_NO_CLAUSE = 1000  # words: so long that no sentence is cut into clauses


class RecitingGemma(Gemma):
    """Samples each token as Gemma does, then returns the next one of a written answer instead. A
    new answer starts when anything but the token sampled last is evaluated."""

    def __init__(self, text: Path, audio: Path, **options: Any) -> None:
        super().__init__(text, audio, **options)
        self._texts = [[*self.tokenize(text, marks=False), END_OF_TURN] for text in ANSWERS]
        self._number = 0  # of the current answer
        self._returned = 0  # tokens of it that were returned
        self._drawn: tuple[int, int] | None = None  # last token, and the position it will have

    def evaluate(self, *runs: Run, last: bool = False) -> None:
        read = [token for run in runs for token in np.ravel(run)[:2]]
        continues = not read or (len(read) == 1 and self._drawn == (int(read[0]), self.position))
        if not continues:
            self._number += self._returned > 0
            self._returned = 0
        super().evaluate(*runs, last=last)

    def sample(self) -> int:
        super().sample()
        text = self._texts[self._number % len(self._texts)]
        token = text[min(self._returned, len(text) - 1)]
        self._returned += 1
        self._drawn = token, self.position
        return token


class AllLayersGemma(RecitingGemma):
    """Has llama.cpp compute all layers for all tokens, as it does without our patch."""

    def open(self, model: Any, tokens: int, threads: int, *, sequences: int = SEQUENCES) -> None:
        super().open(model, tokens, threads, sequences=sequences)
        compute_all_layers(self.context, model)


class WholePromptGemma(LocalGemma):
    """The article's recipe: no work before the turn is over; then the clip is encoded in one piece,
    the prompt prefilled from its first token, and the answer returned sentence by sentence."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "openings": None})

    def encode_ahead(self, clip: SpeechClip) -> None:
        """Do nothing: the clip is encoded when the answer is requested."""

    def prefill_partial(self, history: History, *, likely_all: bool) -> None:
        """Do nothing: there is no speculative prefill."""

    def draw_ahead(self, history: History) -> Generator[AnswerPiece]:
        """Yield nothing: no token is sampled ahead."""
        yield from ()

    def prefill_idle(self, history: History) -> bool:
        """Return True at once: there is no idle prefill."""
        return True

    def answer(self, history: History, effort: AnswerMetrics) -> Iterator[AnswerPiece]:
        self._gemma.roll_back(0)
        self._reader.held = self._reader.held[:0]
        self._opening.state = None
        sentences, sentence = SentenceSplitter(clause_words=_NO_CLAUSE), ""
        for piece in super().answer(history, effort):
            if not isinstance(piece, str):
                yield piece
                continue
            sentence += piece
            if sentences.push(piece):
                yield sentence
                sentence = ""
        if sentence:
            yield sentence


KINDS: dict[str, Callable[..., LocalGemma]] = {
    "this": partial(LocalGemma, engine=RecitingGemma),
    "all layers": partial(LocalGemma, engine=AllLayersGemma),
    "whole prompt": partial(WholePromptGemma, engine=AllLayersGemma),
}


def main(work: Worker) -> None:
    kind = (work.settings.state_path() / RECIPE).read_text()
    thinker.main(work, KINDS[kind])
