"""Accuracy of the shipped weights: clips in, the share of right answers out.

In: the folder of the two GGUF files, the held-out corpus, a stretch of noise. Out: rows of
figures. A request counts as understood if the whole answer is, word for word, the table's.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np

from training.pocket import grammar
from training.pocket.rooms import Surroundings
from training.pocket.sound import SAMPLE_RATE, Array, at_ratio, fit, rms
from training.pocket.speech import Corpus
from training.pocket.through_llama import Pocket

LEVEL_DB, QUIET_S = -22.0, 0.25
CONVERSATION_TURNS = 30


class AccuracyTest:
    def __init__(self, pocket: Pocket, cache: Path, clips: int, noise: Array) -> None:
        self.pocket, self.corpus = pocket, Corpus(cache, "held_out")
        self.table, self.answers = grammar.requests(), grammar.answers()
        self.names = {v: k for k, v in self.answers.items()}
        self.g, self.noise = np.random.default_rng(7), noise
        rows = range(len(self.corpus))
        plain = {p for phrasings in self.table.values() for p in phrasings}
        known = [i for i in rows if self.corpus.rows[i]["name"] != grammar.UNKNOWN]
        self.known = known[:clips]
        self.wrapped = {i for i in self.known if self.corpus.rows[i]["text"] not in plain}
        self.unknown = [i for i in rows if i not in set(known)][:clips]
        self.calls = {i for i in known if self.corpus.rows[i]["name"] in grammar.calls()}
        self.surroundings = Surroundings(self.corpus.clip, len(self.corpus), self.g, 60)

    def clean(self, i: int) -> Array:
        x = np.pad(self.corpus.clip(i), int(QUIET_S * SAMPLE_RATE))
        return x * (10 ** (LEVEL_DB / 20) / rms(self.corpus.clip(i)))

    def noisy(self, i: int, ratio_db: float) -> Array:
        x = self.clean(i)
        return x + at_ratio(
            x[int(QUIET_S * SAMPLE_RATE) : -int(QUIET_S * SAMPLE_RATE)],
            fit(self.noise, len(x), self.g),
            ratio_db,
        )

    def name(self, clips: list[Array]) -> str:
        self.pocket.begin()
        return self.names.get(
            self.pocket.answer([c.astype(np.float32) for c in clips]), "(no answer of the table)"
        )

    def row(
        self, title: str, rows: Sequence[int], clips: Callable[[int], list[Array]]
    ) -> dict[int, str]:
        """The answer's name for each row i, given clips(i); prints the share of right ones."""
        heard = {i: self.name(clips(i)) for i in rows}
        self.tell(title, heard)
        return heard

    def tell(self, title: str, heard: dict[int, str]) -> None:
        wrong = [name for i, name in heard.items() if name != self.corpus.rows[i]["name"]]
        share = 1 - len(wrong) / max(1, len(heard))
        unsure = wrong.count(grammar.UNKNOWN)
        print_share(title, share, f"{len(heard)}, {unsure} of the misses say so")

    def misses(self, heard: dict[int, str]) -> list[str]:
        rows = self.corpus.rows
        wrong = [i for i, name in heard.items() if name != rows[i]["name"]]
        return [f"{rows[i]['text']} -> {heard[i]}" for i in wrong]

    def uncalled(self, heard: dict[int, str]) -> float:
        """The share of rows without a tool request that were answered by a tool call."""
        others = [name for i, name in heard.items() if i not in self.calls]
        return sum(name in grammar.calls() for name in others) / max(1, len(others))

    def in_two(self, i: int) -> list[Array]:
        """The clip cut at the quietest 20 ms of its middle third, as by a speaker who hesitates."""
        x = self.clean(i)
        third, frame = len(x) // 3, SAMPLE_RATE // 50
        loud = [rms(x[k : k + frame]) for k in range(third, 2 * third, frame)]
        cut = third + frame * int(np.argmin(loud)) + frame // 2
        return [x[:cut], x[cut:]]

    def after_another(self, i: int) -> list[Array]:
        return [self.clean(int(self.g.choice(self.known))), self.clean(i)]

    def conversation(self, seed: int, budget: int | None) -> float:
        """Share of right answers over CONVERSATION_TURNS turns, a third of the answers cut short.

        With a budget (tokens), the oldest turns are dropped once the history is longer.
        """
        r, right = Random(seed), 0
        turns: list[tuple[Array, str]] = []
        self.pocket.begin()
        for i in r.sample(self.known, CONVERSATION_TURNS):
            if budget is not None and self.pocket.past > budget:
                while self.pocket.past > budget // 2 and turns:
                    turns = turns[1:]
                    self.replay(turns)
            clip = self.clean(i).astype(np.float32)
            self.pocket.hear([clip])
            before = self.pocket.past
            said = self.pocket.write()
            right += self.names.get(said) == self.corpus.rows[i]["name"]
            if r.random() < 0.33:
                said = " ".join(said.split()[: r.randint(1, 12)])
                self.pocket.forget(before)
                self.pocket.read(said)
            self.pocket.read("<turn|>\n")
            turns.append((clip, said))
        return right / CONVERSATION_TURNS

    def replay(self, turns: list[tuple[Array, str]]) -> None:
        self.pocket.begin()
        for clip, said in turns:
            self.pocket.hear([clip])
            self.pocket.read(said + "<turn|>\n")

    def typed(self) -> float:
        right = 0
        asked = [(p, n) for n, phrasings in self.table.items() for p in phrasings]
        for text, name in asked:
            self.pocket.begin()
            right += self.names.get(self.pocket.answer_typed(text[0].upper() + text[1:])) == name
        return right / len(asked)

    def speed(self) -> tuple[float, float]:
        """Median ms after 3 s of speech: to the first word, and to twelve more words."""
        first, sentence = [], []
        for i in self.known[:20]:
            clip = fit(self.clean(i), 3 * SAMPLE_RATE, self.g).astype(np.float32)
            self.pocket.begin()
            start = time.perf_counter()
            self.pocket.hear([clip])
            self.pocket.write(1)
            first.append(time.perf_counter() - start)
            self.pocket.write(12)
            sentence.append(time.perf_counter() - start)
        return 1000 * float(np.median(first)), 1000 * float(np.median(sentence))


def print_share(title: str, share: float, of: str) -> None:
    print(f"{title:<52} {100 * share:5.1f} %  of {of}", flush=True)
