"""Second lesson, independent of the first: the decoder learns the answers from typed requests.

In: the tables. Out: the decoder, which can say every answer.
"""

import time

import torch
from torch import Tensor
from torch.nn import functional as F

from training.pocket.batches import learning_rate, round_up, update
from training.pocket.conversation import VOCABULARY_SIZE, Conversations, collate, vocabulary
from training.pocket.text_decoder import Mind, MindConfig

STEPS, SEQUENCES, TURNS, PEAK_RATE = 500, 8, 5, 3e-3


def answer_loss(
    mind: Mind, rows: Tensor, ids: Tensor, targets: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Weighted cross entropy where weights is not zero; the share of right first words."""
    asked = weights > 0
    most = round_up(int(asked.sum(1).max()), 32)
    wanted = asked.float().argsort(dim=1, descending=True, stable=True)[:, :most]
    targets, weights = targets.gather(1, wanted), weights.gather(1, wanted)
    where = weights > 0
    logits = mind.logits(mind(rows, ids, wanted)[where]).float()
    targets, weights = targets[where], weights[where]
    right = (logits.argmax(-1) == targets)[weights > 1].float().mean()
    return (
        F.cross_entropy(logits, targets, reduction="none") * weights
    ).sum() / weights.sum(), right


def learn(steps: int = STEPS, seed: int = 1) -> Mind:
    torch.manual_seed(seed)
    mind, drawn = Mind(MindConfig(vocabulary=VOCABULARY_SIZE)), Conversations(vocabulary(), seed)
    optimiser = torch.optim.AdamW(
        mind.parameters(), lr=PEAK_RATE, weight_decay=0.01, betas=(0.9, 0.98)
    )
    start, running, known = time.monotonic(), 7.0, 0.0
    for step in range(steps):
        ids, _, targets, weights, _ = collate(
            [drawn.draw(TURNS, 0.6, 1.0) for _ in range(SEQUENCES)]
        )
        with torch.autocast("cpu", torch.bfloat16):
            loss, right = answer_loss(mind, mind.embed(ids), ids, targets, weights)
        update([optimiser], learning_rate(step, steps, PEAK_RATE), loss)
        running, known = (
            running + (loss.item() - running) * 0.02,
            known + (right.item() - known) * 0.02,
        )
        if step % 50 == 49:
            print(
                f"mind {step + 1} of {steps}: loss {running:.3f}, first words {known:.3f}, "
                f"{time.monotonic() - start:.0f} s",
                flush=True,
            )
    return mind
