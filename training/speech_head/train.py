"""Makes the shipped weights from scratch: corpus, codec, phones, frames, files.

In: a folder to work in, the file of the model (GGUF), the folder to write. A step whose result
exists is not repeated. Everything is seeded; sums of floats differ between processors, so weights
are similar, not identical. `--scale 0.02` is a trial run.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch

from training.speech_head import corpus, learn_codec, learn_frames, learn_phones, texts
from training.speech_head.ship import ship

MADE, ALOUD = 8000, 4000  # made sentences; how many of them are spoken
PHONE_STEPS, FRAME_STEPS = 3000, 6000


def make_corpus(work: Path, model: Path, scale: float, parts: int, letters: int = 0) -> None:
    found = texts.build(
        max(40, int(MADE * scale)), held_out=max(12, int(90 * scale)), letters=letters
    )
    with ProcessPoolExecutor(parts) as pool:
        for part in [
            pool.submit(corpus.build, found, int(ALOUD * scale), model, work, i, parts)
            for i in range(parts)
        ]:
            part.result()


def train(
    work: Path, model: Path, into: Path, scale: float = 1.0, parts: int = 4, letters: int = 0
) -> None:
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "rows-0.json").exists():
        make_corpus(work, model, scale, parts, letters)
    if not (work / "codec.pt").exists():
        learn_codec.train(work, most=max(4000, int(learn_codec.FRAMES * scale)))
    if not (work / "symbols.json").exists():
        learn_phones.train(work, max(2, int(PHONE_STEPS * scale)))
    if not (work / learn_frames.LAST).exists():
        learn_frames.train(work, max(2, int(FRAME_STEPS * scale)))
    ship(work, model, into)


if __name__ == "__main__":
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("work", type=Path)
    a.add_argument("model", type=Path)
    a.add_argument("into", type=Path)
    a.add_argument("--scale", type=float, default=1.0)
    a.add_argument("--parts", type=int, default=4, help="processes that make the corpus")
    a.add_argument("--threads", type=int, default=2)
    told = "made sentences with letters and numbers; none in the shipped weights"
    a.add_argument("--letters", type=int, default=0, help=told)
    given = a.parse_args()
    torch.set_num_threads(given.threads)
    train(given.work, given.model, given.into, given.scale, given.parts, given.letters)
