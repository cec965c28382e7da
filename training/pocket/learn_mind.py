"""Second lesson, which needs no first: the mind learns the answers from typed requests.

In: the tables. Out: CHECKPOINT with the decoder's weights.
    python learn_mind.py CHECKPOINT [STEPS]
"""

import sys
import time

import torch
from torch.nn import functional as F

from batches import learning_rate, update
from conversation import VOCABULARY_SIZE, Conversations, collate, vocabulary
from mind import Mind, MindConfig

STEPS, SEQUENCES, TURNS, PEAK_RATE = 500, 8, 5, 3e-3


def answer_loss(mind: Mind, states, targets, weights):
    """Weighted cross entropy where weights is not zero; the share of first tokens that are right."""
    where = weights > 0
    logits = mind.logits(states[where]).float()
    losses = F.cross_entropy(logits, targets[where], reduction="none")
    first = weights[where] > 1
    right = (logits.argmax(-1) == targets[where])[first].float().mean()
    return (losses * weights[where]).sum() / weights[where].sum(), right


def learn(steps: int, seed: int = 1, report=print) -> Mind:
    torch.manual_seed(seed)
    mind, drawn = Mind(MindConfig(vocabulary=VOCABULARY_SIZE)), Conversations(vocabulary(), seed)
    optimiser = torch.optim.AdamW(mind.parameters(), lr=PEAK_RATE, weight_decay=0.01, betas=(0.9, 0.98))
    start, running, known = time.monotonic(), 7.0, 0.0
    for step in range(steps):
        ids, _, targets, weights, _ = collate([drawn.draw(TURNS, 0.6, 1.0) for _ in range(SEQUENCES)])
        with torch.autocast("cpu", torch.bfloat16):
            states = mind(mind.embed(ids), ids)
            loss, right = answer_loss(mind, states, targets, weights)
        update(optimiser, learning_rate(step, steps, PEAK_RATE), loss)
        running, known = running + (loss.item() - running) * 0.02, known + (right.item() - known) * 0.02
        if step % 50 == 49:
            report(f"mind {step + 1} of {steps}: loss {running:.3f}, first words {known:.3f}, "
                   f"{time.monotonic() - start:.0f} s", flush=True)
    return mind


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.save(learn(int(sys.argv[2]) if len(sys.argv) > 2 else STEPS).state_dict(), sys.argv[1])
