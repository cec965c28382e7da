"""Stage 2, independent of stage 1: the decoder is trained on the answers to typed requests.

In: the tables. Out: the decoder, which can write every answer.
"""

import time

import torch
from torch import Tensor
from torch.nn import functional as F

from training.pocket.batches import learning_rate, round_up, update
from training.pocket.conversation import VOCABULARY_SIZE, Conversations, collate, vocabulary
from training.pocket.text_decoder import TextDecoder, TextDecoderConfig

STEPS, SEQUENCES, TURNS, PEAK_RATE = 500, 8, 5, 3e-3


def answer_loss(
    decoder: TextDecoder, rows: Tensor, ids: Tensor, targets: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Weighted cross entropy where weights is not zero, and the share of correct first words."""
    asked = weights > 0
    most = round_up(int(asked.sum(1).max()), 32)
    wanted = asked.float().argsort(dim=1, descending=True, stable=True)[:, :most]
    targets, weights = targets.gather(1, wanted), weights.gather(1, wanted)
    where = weights > 0
    logits = decoder.logits(decoder(rows, ids, wanted)[where]).float()
    targets, weights = targets[where], weights[where]
    right = (logits.argmax(-1) == targets)[weights > 1].float().mean()
    return (
        F.cross_entropy(logits, targets, reduction="none") * weights
    ).sum() / weights.sum(), right


def learn(steps: int = STEPS, seed: int = 1) -> TextDecoder:
    torch.manual_seed(seed)
    decoder, drawn = (
        TextDecoder(TextDecoderConfig(vocabulary=VOCABULARY_SIZE)),
        Conversations(vocabulary(), seed),
    )
    optimiser = torch.optim.AdamW(
        decoder.parameters(), lr=PEAK_RATE, weight_decay=0.01, betas=(0.9, 0.98)
    )
    start, running, known = time.monotonic(), 7.0, 0.0
    for step in range(steps):
        ids, _, targets, weights, _ = collate(
            [drawn.draw(TURNS, 0.6, 1.0) for _ in range(SEQUENCES)]
        )
        with torch.autocast("cpu", torch.bfloat16):
            loss, right = answer_loss(decoder, decoder.embed(ids), ids, targets, weights)
        update([optimiser], learning_rate(step, steps, PEAK_RATE), loss)
        running, known = (
            running + (loss.item() - running) * 0.02,
            known + (right.item() - known) * 0.02,
        )
        if step % 50 == 49:
            print(
                f"decoder {step + 1} of {steps}: loss {running:.3f}, first words {known:.3f}, "
                f"{time.monotonic() - start:.0f} s",
                flush=True,
            )
    return decoder
