"""First lesson: the ears learn to write down phones (CTC), before they meet the mind.

In: the corpus of speech.py. Out: CHECKPOINT with the encoder's weights.
    python learn_ears.py CACHE CHECKPOINT [STEPS]
A text's phones say far more about each clip than which answer it wants, so this lesson is short.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from batches import learning_rate, pad_clips, update
from ears import Ears
from rooms import Surroundings
from speech import Corpus, words

STEPS, CLIPS, PEAK_RATE = 2500, 32, 2e-3


class Phones:
    """Symbols of a text: 0 is the blank, 1 the gap between words."""

    def __init__(self, folder: Path):
        self.words = json.loads((folder / "phones.json").read_text())
        self.ids = {p: i + 2 for i, p in enumerate(sorted({p for w in self.words.values() for p in w.split("_")}))}

    def of(self, text: str) -> list[int]:
        ids = []
        for word in words(text):
            ids += [self.ids[p] for p in self.words[word].split("_")] + [1]
        return ids[:-1]


def learn(folder: Path, steps: int, seed: int = 1, report=print) -> Ears:
    torch.manual_seed(seed)
    g = np.random.default_rng(seed)
    corpus, phones, ears = Corpus(folder, "train"), Phones(folder), Ears()
    surroundings = Surroundings(corpus.clip, len(corpus), g)
    head = torch.nn.Linear(ears.config.width, len(phones.ids) + 2)
    optimiser = torch.optim.AdamW([*ears.parameters(), *head.parameters()], lr=PEAK_RATE, weight_decay=0.01, betas=(0.9, 0.98))
    start, running = time.monotonic(), 4.0
    for step in range(steps):
        chosen = g.integers(0, len(corpus), CLIPS)
        clean = step < steps // 15                              # first the words, then the weather
        clips = [corpus.clip(i) if clean else surroundings.heard(corpus.clip(i)) for i in chosen]
        targets = [torch.tensor(phones.of(corpus.rows[i]["text"])) for i in chosen]
        with torch.autocast("cpu", torch.bfloat16):
            states, tokens = ears.encode(*pad_clips(clips))
            scores = F.log_softmax(head(states).float(), -1)
        loss = F.ctc_loss(scores.transpose(0, 1), torch.cat(targets), tokens, torch.tensor([len(t) for t in targets]),
                          zero_infinity=True)
        update(optimiser, learning_rate(step, steps, PEAK_RATE), loss)
        running += (loss.item() - running) * 0.02
        if step % 100 == 99:
            report(f"ears {step + 1} of {steps}: loss {running:.3f}, {time.monotonic() - start:.0f} s", flush=True)
    return ears


if __name__ == "__main__":
    torch.set_num_threads(1)
    learned = learn(Path(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else STEPS)
    torch.save(learned.state_dict(), sys.argv[2])
