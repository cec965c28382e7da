"""Train the pocket model from nothing and write its two GGUF files.

In: the tables and espeak-ng. Out: FOLDER/pocket-text.gguf and FOLDER/pocket-audio.gguf.
    python -m training.pocket.train CACHE FOLDER
CACHE keeps the speech (1.4 GB) and the checkpoint of each lesson; a lesson whose checkpoint is
there is not repeated.
"""

import argparse
from pathlib import Path

import torch

from training.pocket import learn_ears, learn_mind
from training.pocket.conversation import VOCABULARY_SIZE, vocabulary
from training.pocket.ears import Ears
from training.pocket.export import export
from training.pocket.learn_together import COURSES, Lesson, learn_in_processes
from training.pocket.mind import Mind, MindConfig
from training.pocket.speech import synthesise_corpus

LAST_SHARE = 0.7  # of the last course in the result, the rest is of the one before: a steadier mean


def train(cache: Path, folder: Path, scale: float = 1.0, processes: int = 2) -> None:
    """scale shrinks the speech and the lessons alike; 1 is the shipped weights."""

    def part(steps: int) -> int:
        return max(1, round(steps * scale))

    torch.set_num_threads(1)
    if not (cache / "phones.json").exists():
        synthesise_corpus(cache, "train", scale)
    if not (cache / "ears.pt").exists():
        torch.save(learn_ears.learn(cache, part(learn_ears.STEPS)).state_dict(), cache / "ears.pt")
    if not (cache / "mind.pt").exists():
        torch.save(learn_mind.learn(part(learn_mind.STEPS)).state_dict(), cache / "mind.pt")
    learned = {name: torch.load(cache / f"{name}.pt") for name in ("ears", "mind")}
    for number, steps in enumerate(COURSES):
        course, before = cache / f"both{number}.pt", learned
        if not course.exists():
            learn_in_processes(Lesson(cache, learned, course, part(steps), processes, number))
        learned = torch.load(course)
    for name, state in learned.items():
        for key in state:
            state[key] = LAST_SHARE * state[key] + (1 - LAST_SHARE) * before[name][key]
    ears, mind = Ears(), Mind(MindConfig(vocabulary=VOCABULARY_SIZE))
    ears.load_state_dict(learned["ears"])
    mind.load_state_dict(learned["mind"])
    export(folder, ears, mind, vocabulary())


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    a.add_argument("cache", type=Path)
    a.add_argument("folder", type=Path)
    a.add_argument("--scale", type=float, default=1.0, help="a trial run: 0.005 takes some minutes")
    o = a.parse_args()
    train(o.cache, o.folder, o.scale)


if __name__ == "__main__":
    main()
