"""Train the pocket model and write its two GGUF files.

In: the tables and espeak-ng; with --start, the weights to continue from.
Out: FOLDER/pocket-text.gguf and FOLDER/pocket-audio.gguf.
    python -m training.pocket.train CACHE FOLDER [--start WEIGHTS]
CACHE has the speech (2 GB) and the checkpoint of each stage; a stage whose checkpoint exists is
not repeated.
"""

import argparse
from pathlib import Path
from typing import Any

import torch

from training.pocket import train_decoder, train_encoder
from training.pocket.audio_encoder import AudioEncoder
from training.pocket.conversation import VOCABULARY_SIZE, vocabulary
from training.pocket.export import export
from training.pocket.restore import restore
from training.pocket.speech import phones_path, synthesise_corpus
from training.pocket.text_decoder import TextDecoder, TextDecoderConfig
from training.pocket.train_jointly import RUNS, Run, learn_in_processes

LAST_SHARE = 0.7  # weight of the last run in the mean of the last two runs
States = dict[str, Any]  # of encoder and decoder


def part(steps: int, scale: float) -> int:
    return max(1, round(steps * scale))


def make_corpus(cache: Path, name: str, scale: float) -> None:
    if not phones_path(cache, name).exists():
        synthesise_corpus(cache, name, scale)


def from_scratch(cache: Path, scale: float, processes: int) -> States:
    """Stages 1 to 3."""
    make_corpus(cache, "train", scale)
    if not (cache / "encoder.pt").exists():
        encoder = train_encoder.learn(cache, part(train_encoder.STEPS, scale))
        torch.save(encoder.state_dict(), cache / "encoder.pt")
    if not (cache / "decoder.pt").exists():
        decoder = train_decoder.learn(part(train_decoder.STEPS, scale))
        torch.save(decoder.state_dict(), cache / "decoder.pt")
    learned = {name: torch.load(cache / f"{name}.pt") for name in ("encoder", "decoder")}
    return together(cache, learned, "train", scale, processes)


def together(cache: Path, start: States, corpus: str, scale: float, processes: int) -> States:
    """Do the runs over one corpus and return the mean of the last two.

    Stage 3 uses "train", stage 4 "tools", in which half of the requests are for a tool.
    """
    make_corpus(cache, corpus, scale)
    learned = before = start
    for number, (steps, peak) in enumerate(RUNS[corpus]):
        checkpoint, before = cache / f"{corpus}{number}.pt", learned
        if not checkpoint.exists():
            steps = part(steps, scale)
            run = Run(cache, learned, checkpoint, steps, processes, number, peak, corpus)
            learn_in_processes(run)
        learned = torch.load(checkpoint)
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
    """`scale` multiplies the amount of speech and the steps; it is 1 for the shipped weights."""
    torch.set_num_threads(1)
    words, encoder, decoder = (
        vocabulary(),
        AudioEncoder(),
        TextDecoder(TextDecoderConfig(vocabulary=VOCABULARY_SIZE)),
    )
    if start is None:
        learned = from_scratch(cache, scale, processes)
    else:
        restore(start, encoder, decoder, words)
        learned = {"encoder": encoder.state_dict(), "decoder": decoder.state_dict()}
    learned = together(cache, learned, "tools", scale, processes)
    encoder.load_state_dict(learned["encoder"])
    decoder.load_state_dict(learned["decoder"])
    export(folder, encoder, decoder, words)


def main() -> None:
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    a.add_argument("cache", type=Path)
    a.add_argument("folder", type=Path)
    a.add_argument("--start", type=Path, help="weights to go on from: only stage 4 is run")
    a.add_argument("--scale", type=float, default=1.0, help="a trial run: 0.005 takes some minutes")
    a.add_argument("--processes", type=int, default=2, help="one core each")
    o = a.parse_args()
    train(o.cache, o.folder, o.scale, o.processes, o.start)


if __name__ == "__main__":
    main()
