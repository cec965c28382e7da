"""Fits the codec to the corpus's parameters. Out: codec.pt in the corpus's folder."""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from training.speech_head import corpus
from training.speech_head.codec import Codec, fit

KINDS = ("trained", "made")
FRAMES = 150_000  # random sample of the frames in all eight phases, for the fit of the books


def train(folder: Path, seed: int = 0, most: int = FRAMES) -> Codec:
    _, rows, arrays = corpus.load(folder)
    heard = [r for r in rows if r["hops"] and r["kind"] in KINDS]
    p = arrays["parameters"]
    clips = [torch.from_numpy(p[r["hop"] : r["hop"] + r["hops"]].astype(np.float32)) for r in heard]
    begin = time.time()
    codec: Codec = fit(clips, seed, most)
    print(
        f"codec: {sum(map(len, clips)) / 6000:.1f} minutes of speech, {time.time() - begin:.0f} s"
    )
    torch.save(codec.state_dict(), folder / "codec.pt")
    return codec


def load(folder: Path) -> Codec:
    model = Codec()
    model.load_state_dict(torch.load(folder / "codec.pt"))
    model.eval()
    return model


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    train(Path(sys.argv[1]))
