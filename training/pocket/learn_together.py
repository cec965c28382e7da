"""Third lesson: ears and mind together answer spoken conversations.

In: the corpus and the first two lessons' checkpoints. Out: CHECKPOINT with both networks,
saved every few minutes, so that an interrupted run leaves something to export.
    python learn_together.py CACHE EARS MIND CHECKPOINT [STEPS]
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from batches import learning_rate, pad_clips, update
from conversation import VOCABULARY_SIZE, Conversations, collate, vocabulary
from ears import Ears
from learn_mind import answer_loss
from mind import Mind, MindConfig
from rooms import Surroundings
from speech import Corpus

STEPS, SEQUENCES, TURNS, PEAK_RATE = 2500, 6, 5, 1.2e-3
FULL_SHARE, TYPED_SHARE, SAVE_EVERY = 0.15, 0.1, 250


def fill(mind: Mind, ids, soft, rows, tokens):
    """Word embeddings with the soft tokens [clips, longest, width] put in their places, in order."""
    embedded = mind.embed(ids)
    real = torch.arange(rows.shape[1]) < tokens[:, None]
    return embedded.masked_scatter(soft[..., None].expand_as(embedded), rows[real].to(embedded.dtype))


def learn(folder: Path, ears: Ears, mind: Mind, steps: int, save, seed: int = 2, turns: int = TURNS,
          peak: float = PEAK_RATE, report=print) -> None:
    g = np.random.default_rng(seed)
    torch.manual_seed(seed)
    corpus = Corpus(folder, "train")
    drawn = Conversations(vocabulary(), seed, corpus, Surroundings(corpus.clip, len(corpus), g))
    parameters = [*ears.parameters(), *mind.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=peak, weight_decay=0.01, betas=(0.9, 0.98))
    start, running, known = time.monotonic(), 5.0, 0.0
    for step in range(steps):
        count = max(1, SEQUENCES * TURNS // turns)
        ids, soft, targets, weights, clips = collate([drawn.draw(turns, FULL_SHARE, TYPED_SHARE) for _ in range(count)])
        with torch.autocast("cpu", torch.bfloat16):
            rows, tokens = ears(*pad_clips(clips))
            states = mind(fill(mind, ids, soft, rows, tokens), ids)
            loss, right = answer_loss(mind, states, targets, weights)
        update(optimiser, learning_rate(step, steps, peak), loss)
        running, known = running + (loss.item() - running) * 0.02, known + (right.item() - known) * 0.02
        if step % 50 == 49:
            report(f"together {step + 1} of {steps}: loss {running:.3f}, first words {known:.3f}, "
                   f"{time.monotonic() - start:.0f} s", flush=True)
        if step % SAVE_EVERY == SAVE_EVERY - 1 or step == steps - 1:
            save({"ears": ears.state_dict(), "mind": mind.state_dict()})


if __name__ == "__main__":
    cache, ears_file, mind_file, out = (Path(a) for a in sys.argv[1:5])
    hearing, thinking = Ears(), Mind(MindConfig(vocabulary=VOCABULARY_SIZE))
    hearing.load_state_dict(torch.load(ears_file))
    thinking.load_state_dict(torch.load(mind_file))
    learn(cache, hearing, thinking, int(sys.argv[5]) if len(sys.argv) > 5 else STEPS, lambda s: torch.save(s, out))
