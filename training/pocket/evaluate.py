"""What the shipped weights understand, run through llama.cpp.

In: the folder of the two GGUF files, the cache of train.py (held-out voices), and optionally a
folder of real recordings. Out: one row per condition, printed.
    python -m training.pocket.evaluate WEIGHTS CACHE [--recordings FOLDER] [--clips 600]
"""

import argparse
from pathlib import Path
from random import Random

import numpy as np
import soundfile

from training.pocket import grammar
from training.pocket.accuracy import CONVERSATION_TURNS, Exam, print_share
from training.pocket.rooms import kitchen
from training.pocket.sound import SAMPLE_RATE, Array
from training.pocket.speech import phones_path, synthesise_corpus
from training.pocket.through_llama import Pocket

REAL_CLIPS_PER_WORD = 60


def synthetic_voices(exam: Exam) -> None:
    known, some = exam.known, exam.known[:200]
    clean = exam.row("held-out voices, clean", known, lambda i: [exam.clean(i)])
    exam.tell("  of these with a wrapper", {i: n for i, n in clean.items() if i in exam.wrapped})
    exam.tell("  of these for talk", {i: n for i, n in clean.items() if i not in exam.calls})
    noisy: dict[int, dict[int, str]] = {}
    for db in (20, 10, 5):
        title = f"held-out voices, kitchen noise at {db} dB"
        noisy[db] = exam.row(title, known, lambda i, db=db: [exam.noisy(i, db)])  # type: ignore[misc]
    talk = {i: n for i, n in noisy[10].items() if i not in exam.calls}
    exam.tell("  of these for talk, at 10 dB", talk)
    title = "held-out voices, random room, noise and level"
    exam.row(title, known, lambda i: [exam.surroundings.heard(exam.corpus.clip(i))])
    other = exam.row("outside the table, clean", exam.unknown, lambda i: [exam.clean(i)])
    title = "outside the table, kitchen noise at 10 dB"
    other_noisy = exam.row(title, exam.unknown, lambda i: [exam.noisy(i, 10)])
    called = sorted(exam.calls)
    calls = exam.row("calls of tools, clean", called, lambda i: [exam.clean(i)])
    title = "calls of tools, kitchen noise at 10 dB"
    calls_noisy = exam.row(title, called, lambda i: [exam.noisy(i, 10)])
    for title, heard in (("clean", clean | other), ("at 10 dB", noisy[10] | other_noisy)):
        of = f"{len(heard.keys() - exam.calls)}"
        print_share(f"a call that nobody asked for, {title}", exam.uncalled(heard), of)
    for title, heard in (("clean", calls), ("at 10 dB", calls_noisy)):
        wrong = [m for m in exam.misses(heard) if m.rpartition(" -> ")[2] in grammar.calls()]
        print_share(
            f"another call than asked for, {title}", len(wrong) / len(heard), f"{len(heard)}"
        )
    exam.row("one request in two clips", some, exam.in_two)
    exam.row("another request, then this one, in one turn", some, exam.after_another)
    silent = [exam.name([exam.surroundings.nothing()]) for _ in range(200)]
    print_share("no speech at all, not understood", silent.count(grammar.UNKNOWN) / 200, "200")
    print("missed in clean speech:", *exam.misses(clean | other | calls), sep="\n    ")


def conversations(exam: Exam) -> None:
    print_share("typed requests", exam.typed(), "all phrasings")
    for budget in (400, 1200, None):
        share = float(np.mean([exam.conversation(seed, budget) for seed in range(5)]))
        title = f"{CONVERSATION_TURNS} turns, history of {budget or 'any number of'} tokens"
        print_share(title, share, "150 requests")


def real_speech(exam: Exam, folder: Path) -> None:
    """People's own voices; only three of the words are in the table."""
    heard: dict[str, list[str]] = {"other words": []}
    for word in sorted(p.name for p in (folder / "words").iterdir()):
        files = sorted((folder / "words" / word).glob("*.flac"))
        files = Random(3).sample(files, min(REAL_CLIPS_PER_WORD, len(files)))
        names = [exam.name([recording(f)]) for f in files]
        if word in exam.table:
            right, unsure = (names.count(n) / len(names) for n in (word, grammar.UNKNOWN))
            of = f"{len(names)}, not understood {100 * unsure:.0f} %"
            print_share(f'real people: "{word}"', right, of)
        else:
            heard["other words"] += names
    orders = sorted((folder / "commands").glob("*.flac"))
    heard["coffee orders"] = [exam.name([recording(f)]) for f in orders]
    for title, names in heard.items():
        share = names.count(grammar.UNKNOWN) / len(names)
        print_share(f"real people: {title}, not understood", share, str(len(names)))


def recording(path: Path) -> Array:
    samples: Array = soundfile.read(path, dtype="float32")[0]
    return samples


def main() -> None:
    a = argparse.ArgumentParser(description="What the shipped weights understand.")
    a.add_argument("weights", type=Path)
    a.add_argument("cache", type=Path)
    a.add_argument("--recordings", type=Path)
    a.add_argument("--clips", type=int, default=600)
    o = a.parse_args()
    noise = kitchen(60 * SAMPLE_RATE, np.random.default_rng(5)).astype(np.float32)
    if o.recordings:
        noise = recording(o.recordings / "noise" / "kitchen.flac")
    if not phones_path(o.cache, "held_out").exists():
        synthesise_corpus(o.cache, "held_out")
    exam = Exam(Pocket(o.weights), o.cache, o.clips, noise)
    first, sentence = exam.speed()
    print(f"3 s of speech, one core: first word after {first:.0f} ms, 12 words {sentence:.0f} ms")
    synthetic_voices(exam)
    conversations(exam)
    if o.recordings:
        real_speech(exam, o.recordings)
    drawn = Exam(Pocket(o.weights, greedy=False), o.cache, 200, noise)
    drawn.row("clean, temperature 1, top-k 64, top-p 0.95", drawn.known, lambda i: [drawn.clean(i)])


if __name__ == "__main__":
    main()
