"""What the shipped weights understand, run through llama.cpp.

In: the folder of the two GGUF files, the cache of speech.py (held-out voices), and optionally a
folder of real recordings. Out: one row per condition, printed.
    python evaluate.py WEIGHTS CACHE [--recordings FOLDER] [--clips 600]
Requests count as understood if the whole answer is, word for word, the table's.
"""

import argparse
import time
from pathlib import Path
from random import Random

import numpy as np
import soundfile

import grammar
from ears import SAMPLE_RATE
from rooms import Surroundings, at_ratio, fit, kitchen, rms
from speech import Corpus
from through_llama import Pocket

LEVEL_DB, QUIET_S = -22.0, 0.25
CONVERSATION_TURNS = 30


class Exam:
    def __init__(self, weights: Path, cache: Path, clips: int, noise: np.ndarray, greedy: bool = True):
        self.pocket, self.corpus = Pocket(weights, greedy=greedy), Corpus(cache, "held_out")
        self.table, self.answers = grammar.requests(), grammar.answers()
        self.names = {v: k for k, v in self.answers.items()}
        self.g, self.noise = np.random.default_rng(7), noise
        rows = range(len(self.corpus))
        plain = {p for phrasings in self.table.values() for p in phrasings}
        known = [i for i in rows if self.corpus.rows[i]["name"] != grammar.UNKNOWN]
        self.known = known[:clips]
        self.wrapped = [i for i in self.known if self.corpus.rows[i]["text"] not in plain]
        self.unknown = [i for i in rows if i not in set(known)][:clips]
        self.surroundings = Surroundings(self.corpus.clip, len(self.corpus), self.g, 60)

    def clean(self, i: int) -> np.ndarray:
        x = np.pad(self.corpus.clip(i), int(QUIET_S * SAMPLE_RATE))
        return x * (10 ** (LEVEL_DB / 20) / rms(self.corpus.clip(i)))

    def noisy(self, i: int, ratio_db: float) -> np.ndarray:
        x = self.clean(i)
        return x + at_ratio(x[int(QUIET_S * SAMPLE_RATE):-int(QUIET_S * SAMPLE_RATE)], fit(self.noise, len(x), self.g), ratio_db)

    def name(self, clips: list[np.ndarray]) -> str:
        self.pocket.begin()
        return self.names.get(self.pocket.answer([c.astype(np.float32) for c in clips]), "(no answer of the table)")

    def row(self, title: str, rows, clips) -> float:
        """Share of rows understood; clips(i) gives what is heard for row i."""
        wrong = {}
        for i in rows:
            name = self.name(clips(i))
            if name != self.corpus.rows[i]["name"]:
                wrong[f"{self.corpus.rows[i]['text']} -> {name}"] = wrong.get(name, 0) + 1
        share = 1 - len(wrong) / max(1, len(rows))
        unsure = sum(w.endswith(grammar.UNKNOWN) for w in wrong)
        print(f"{title:<52} {100 * share:5.1f} %  of {len(rows)}, {unsure} of the misses say so", flush=True)
        self.wrong = list(wrong)
        return share

    def in_two(self, i: int) -> list[np.ndarray]:
        x = self.clean(i)
        cut = int(len(x) * 0.5)
        return [x[:cut], x[cut:]]

    def after_another(self, i: int) -> list[np.ndarray]:
        return [self.clean(int(self.g.choice(self.known))), self.clean(i)]

    def conversation(self, seed: int, budget: int | None) -> float:
        """Share of right answers over CONVERSATION_TURNS turns, a third of the answers cut short;
        with a budget, the oldest turns are left out as soon as the history is longer."""
        r, right, turns = Random(seed), 0, []
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

    def replay(self, turns):
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
        """Median milliseconds for 3 s of speech: to the first word, to the end of a first sentence."""
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


def real_speech(exam: Exam, folder: Path, per_word: int) -> None:
    r, elsewhere = Random(3), []
    for word in sorted(p.name for p in (folder / "words").iterdir()):
        files = sorted((folder / "words" / word).glob("*.flac"))
        names = [exam.name([soundfile.read(f, dtype="float32")[0]]) for f in r.sample(files, min(per_word, len(files)))]
        if word in ("stop", "yes", "no"):
            print(f"real human \"{word}\": {100 * names.count(word) / len(names):.0f} % understood, "
                  f"{100 * names.count(grammar.UNKNOWN) / len(names):.0f} % \"did not understand\", of {len(names)}", flush=True)
        else:
            elsewhere += names
    spoken = [exam.name([soundfile.read(f, dtype="float32")[0]]) for f in sorted((folder / "commands").glob("*.flac"))]
    for title, names in (("other real words", elsewhere), ("real coffee orders", spoken)):
        print(f"{title}: {100 * names.count(grammar.UNKNOWN) / len(names):.0f} % \"did not understand\", of {len(names)}")


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("weights", type=Path)
    a.add_argument("cache", type=Path)
    a.add_argument("--recordings", type=Path)
    a.add_argument("--clips", type=int, default=600)
    a.add_argument("--misses", action="store_true", help="print what was not understood in clean speech")
    o = a.parse_args()
    noise = kitchen(60 * SAMPLE_RATE, np.random.default_rng(5)).astype(np.float32)
    if o.recordings:
        noise = soundfile.read(o.recordings / "noise" / "kitchen.flac", dtype="float32")[0]
    exam = Exam(o.weights, o.cache, o.clips, noise)
    exam.row("held-out voices, clean", exam.known, lambda i: [exam.clean(i)])
    if o.misses:
        print("\n".join(exam.wrong))
    exam.row("  of these with a wrapper", exam.wrapped, lambda i: [exam.clean(i)])
    for ratio_db in (20, 10, 5):
        exam.row(f"held-out voices, kitchen noise at {ratio_db} dB", exam.known, lambda i, d=ratio_db: [exam.noisy(i, d)])
    exam.row("held-out voices, random room, noise and level", exam.known, lambda i: [exam.surroundings.heard(exam.corpus.clip(i))])
    exam.row("outside the table, clean", exam.unknown, lambda i: [exam.clean(i)])
    exam.row("outside the table, kitchen noise at 10 dB", exam.unknown, lambda i: [exam.noisy(i, 10)])
    some = exam.known[:200]
    exam.row("one request in two clips", some, exam.in_two)
    exam.row("another request, then this one, in one turn", some, exam.after_another)
    silent = [exam.name([exam.surroundings.nothing()]) for _ in range(200)]
    print(f"{'no speech at all: did not understand':<52} {silent.count(grammar.UNKNOWN) / 2:5.1f} %  of 200")
    print(f"{'typed requests':<52} {100 * exam.typed():5.1f} %")
    for budget in (400, 1000, None):
        share = np.mean([exam.conversation(seed, budget) for seed in range(5)])
        print(f"{f'{CONVERSATION_TURNS} turns, history up to {budget or 8000} tokens':<52} {100 * share:5.1f} %  of 150", flush=True)
    print("to first word {:.0f} ms, to 12 words {:.0f} ms after 3 s of speech, one core".format(*exam.speed()))
    if o.recordings:
        real_speech(exam, o.recordings, 60)
    drawn = Exam(o.weights, o.cache, 200, noise, greedy=False)
    drawn.row("clean, sampled (temperature 1, top-k 64, top-p 0.95)", drawn.known, lambda i: [drawn.clean(i)])


if __name__ == "__main__":
    main()
