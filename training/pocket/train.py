"""Train the pocket model and write its two GGUF files.

In: the tables and espeak-ng; with --start, the weights to go on from, else nothing.
Out: FOLDER/pocket-text.gguf and FOLDER/pocket-audio.gguf.
    python -m training.pocket.train CACHE FOLDER [--start WEIGHTS]
CACHE keeps the speech (2 GB) and the checkpoint of each lesson; a lesson whose checkpoint is
there is not repeated.
"""

import argparse
from pathlib import Path
from typing import Any

import torch

from training.pocket import train_decoder, train_encoder
from training.pocket.audio_encoder import Ears
from training.pocket.conversation import VOCABULARY_SIZE, vocabulary
from training.pocket.export import export
from training.pocket.restore import restore
from training.pocket.speech import phones_path, synthesise_corpus
from training.pocket.text_decoder import Mind, MindConfig
from training.pocket.train_jointly import COURSES, Lesson, learn_in_processes

LAST_SHARE = 0.7  # of the last course in the result, the rest is of the one before: a steadier mean
States = dict[str, Any]  # of encoder and decoder


def part(steps: int, scale: float) -> int:
    return max(1, round(steps * scale))


def speak(cache: Path, name: str, scale: float) -> None:
    if not phones_path(cache, name).exists():
        synthesise_corpus(cache, name, scale)


def from_nothing(cache: Path, scale: float, processes: int) -> States:
    """The first three lessons."""
    speak(cache, "train", scale)
    if not (cache / "ears.pt").exists():
        ears = train_encoder.learn(cache, part(train_encoder.STEPS, scale))
        torch.save(ears.state_dict(), cache / "ears.pt")
    if not (cache / "mind.pt").exists():
        mind = train_decoder.learn(part(train_decoder.STEPS, scale))
        torch.save(mind.state_dict(), cache / "mind.pt")
    learned = {name: torch.load(cache / f"{name}.pt") for name in ("ears", "mind")}
    return together(cache, learned, "train", scale, processes)


def together(cache: Path, start: States, corpus: str, scale: float, processes: int) -> States:
    """The courses over one corpus, and the mean of the last two: the third lesson, and, over
    speech of which half asks for tools, the fourth."""
    speak(cache, corpus, scale)
    learned = before = start
    for number, (steps, peak) in enumerate(COURSES[corpus]):
        course, before = cache / f"{corpus}{number}.pt", learned
        if not course.exists():
            steps = part(steps, scale)
            lesson = Lesson(cache, learned, course, steps, processes, number, peak, corpus)
            learn_in_processes(lesson)
        learned = torch.load(course)
    return {
        name: {key: LAST_SHARE * state[key] + (1 - LAST_SHARE) * before[name][key] for key in state}
        for name, state in learned.items()
    }


def train(
    cache: Path,
    folder: Path,
    scale: float = 1.0,
    processes: int = 2,
    start: Path | None = None,
) -> None:
    """scale shrinks the speech and the lessons alike; 1 is the shipped weights."""
    torch.set_num_threads(1)
    words, ears, mind = vocabulary(), Ears(), Mind(MindConfig(vocabulary=VOCABULARY_SIZE))
    if start is None:
        learned = from_nothing(cache, scale, processes)
    else:
        restore(start, ears, mind, words)
        learned = {"ears": ears.state_dict(), "mind": mind.state_dict()}
    learned = together(cache, learned, "tools", scale, processes)
    ears.load_state_dict(learned["ears"])
    mind.load_state_dict(learned["mind"])
    export(folder, ears, mind, words)


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    a.add_argument("cache", type=Path)
    a.add_argument("folder", type=Path)
    a.add_argument("--start", type=Path, help="weights of before: only the last lesson is given")
    a.add_argument("--scale", type=float, default=1.0, help="a trial run: 0.005 takes some minutes")
    a.add_argument("--processes", type=int, default=2, help="one core each")
    o = a.parse_args()
    train(o.cache, o.folder, o.scale, o.processes, o.start)


if __name__ == "__main__":
    main()
