"""Accuracy of the shipped weights, run by llama.cpp, in all conditions.

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
from training.pocket.accuracy import CONVERSATION_TURNS, AccuracyTest, print_share
from training.pocket.rooms import kitchen
from training.pocket.sound import SAMPLE_RATE, Array
from training.pocket.speech import phones_path, synthesise_corpus
from training.pocket.through_llama import Pocket

REAL_CLIPS_PER_WORD = 60


def synthetic_voices(test: AccuracyTest) -> None:
    known, some = test.known, test.known[:200]
    clean = test.row("held-out voices, clean", known, lambda i: [test.clean(i)])
    test.tell("  of these with a wrapper", {i: n for i, n in clean.items() if i in test.wrapped})
    test.tell("  of these for talk", {i: n for i, n in clean.items() if i not in test.calls})
    noisy: dict[int, dict[int, str]] = {}
    for db in (20, 10, 5):
        title = f"held-out voices, kitchen noise at {db} dB"
        noisy[db] = test.row(title, known, lambda i, db=db: [test.noisy(i, db)])  # type: ignore[misc]
    talk = {i: n for i, n in noisy[10].items() if i not in test.calls}
    test.tell("  of these for talk, at 10 dB", talk)
    title = "held-out voices, random room, noise and level"
    test.row(title, known, lambda i: [test.surroundings.heard(test.corpus.clip(i))])
    other = test.row("outside the table, clean", test.unknown, lambda i: [test.clean(i)])
    title = "outside the table, kitchen noise at 10 dB"
    other_noisy = test.row(title, test.unknown, lambda i: [test.noisy(i, 10)])
    called = sorted(test.calls)
    calls = test.row("calls of tools, clean", called, lambda i: [test.clean(i)])
    title = "calls of tools, kitchen noise at 10 dB"
    calls_noisy = test.row(title, called, lambda i: [test.noisy(i, 10)])
    for title, heard in (("clean", clean | other), ("at 10 dB", noisy[10] | other_noisy)):
        of = f"{len(heard.keys() - test.calls)}"
        print_share(f"a call without a request for it, {title}", test.uncalled(heard), of)
    for title, heard in (("clean", calls), ("at 10 dB", calls_noisy)):
        wrong = [m for m in test.misses(heard) if m.rpartition(" -> ")[2] in grammar.calls()]
        print_share(
            f"another call than asked for, {title}", len(wrong) / len(heard), f"{len(heard)}"
        )
    test.row("one request in two clips", some, test.in_two)
    test.row("another request, then this one, in one turn", some, test.after_another)
    silent = [test.name([test.surroundings.nothing()]) for _ in range(200)]
    print_share("no speech at all, not understood", silent.count(grammar.UNKNOWN) / 200, "200")
    print("missed in clean speech:", *test.misses(clean | other | calls), sep="\n    ")


def conversations(test: AccuracyTest) -> None:
    print_share("typed requests", test.typed(), "all phrasings")
    for budget in (400, 1200, None):
        share = float(np.mean([test.conversation(seed, budget) for seed in range(5)]))
        title = f"{CONVERSATION_TURNS} turns, history of {budget or 'any number of'} tokens"
        print_share(title, share, "150 requests")


def real_speech(test: AccuracyTest, folder: Path) -> None:
    """People's own voices; only three of the words are in the table."""
    heard: dict[str, list[str]] = {"other words": []}
    for word in sorted(p.name for p in (folder / "words").iterdir()):
        files = sorted((folder / "words" / word).glob("*.flac"))
        files = Random(3).sample(files, min(REAL_CLIPS_PER_WORD, len(files)))
        names = [test.name([recording(f)]) for f in files]
        if word in test.table:
            right, unsure = (names.count(n) / len(names) for n in (word, grammar.UNKNOWN))
            of = f"{len(names)}, not understood {100 * unsure:.0f} %"
            print_share(f'real people: "{word}"', right, of)
        else:
            heard["other words"] += names
    orders = sorted((folder / "commands").glob("*.flac"))
    heard["coffee orders"] = [test.name([recording(f)]) for f in orders]
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
    test = AccuracyTest(Pocket(o.weights), o.cache, o.clips, noise)
    first, sentence = test.speed()
    print(f"3 s of speech, one core: first word after {first:.0f} ms, 12 words {sentence:.0f} ms")
    synthetic_voices(test)
    conversations(test)
    if o.recordings:
        real_speech(test, o.recordings)
    drawn = AccuracyTest(Pocket(o.weights, greedy=False), o.cache, 200, noise)
    drawn.row("clean, temperature 1, top-k 64, top-p 0.95", drawn.known, lambda i: [drawn.clean(i)])


if __name__ == "__main__":
    main()
