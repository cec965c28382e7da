"""Stage 1: the audio encoder is trained to recognise phones (CTC), without the decoder.

In: the corpus of speech.py. Out: the encoder. The phones of a text are a much denser target
than the index of its answer, so this stage is short.
"""

import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from training.pocket.audio_encoder import AudioEncoder
from training.pocket.batches import learning_rate, pad_clips, update
from training.pocket.rooms import Surroundings
from training.pocket.speech import Corpus, phones_path, words

STEPS, CLIPS, PEAK_RATE = 1330, 32, 2e-3
SCHEDULE_STEPS = (
    2500  # of the rate; training stops half-way, since stage 3 continues to train the encoder
)


class Phones:
    """The phones of texts as ids: 0 is CTC's blank, 1 the gap between words."""

    def __init__(self, folder: Path, corpus: str = "train") -> None:
        self.words = json.loads(phones_path(folder, corpus).read_text())
        self.ids = {
            p: i + 2
            for i, p in enumerate(sorted({p for w in self.words.values() for p in w.split("_")}))
        }

    def of(self, text: str) -> list[int]:
        """The ids of the text's phones; empty for an empty text."""
        ids = []
        for word in words(text):
            ids += [self.ids[p] for p in self.words[word].split("_")] + [1]
        return ids[:-1]


def phone_loss(
    head: torch.nn.Module, states: Tensor, tokens: Tensor, targets: list[list[int]]
) -> Tensor:
    """CTC of the clips whose phones are known; states [clips, tokens, width]."""
    known = [i for i, phones in enumerate(targets) if phones]
    scores = F.log_softmax(head(states[known]).float(), -1).transpose(0, 1)
    wanted = torch.tensor([p for i in known for p in targets[i]])
    lengths = torch.tensor([len(targets[i]) for i in known])
    return F.ctc_loss(scores, wanted, tokens[known], lengths, zero_infinity=True)


def learn(folder: Path, steps: int = STEPS, seed: int = 1) -> AudioEncoder:
    torch.manual_seed(seed)
    g = np.random.default_rng(seed)
    corpus, phones, encoder = Corpus(folder, "train"), Phones(folder), AudioEncoder()
    surroundings = Surroundings(corpus.clip, len(corpus), g)
    head = torch.nn.Linear(encoder.config.width, len(phones.ids) + 2)
    optimiser = torch.optim.AdamW(
        [*encoder.parameters(), *head.parameters()],
        lr=PEAK_RATE,
        weight_decay=0.01,
        betas=(0.9, 0.98),
    )
    start, running = time.monotonic(), 4.0
    for step in range(steps):
        chosen = g.integers(0, len(corpus), CLIPS)
        clean = step < SCHEDULE_STEPS // 15  # without rooms and noise at first
        clips = [corpus.clip(i) if clean else surroundings.heard(corpus.clip(i)) for i in chosen]
        targets = [phones.of(corpus.rows[i]["text"]) for i in chosen]
        with torch.autocast("cpu", torch.bfloat16):
            states, tokens = encoder.encode(*pad_clips(clips))
            loss = phone_loss(head, states, tokens, targets)
        update([optimiser], learning_rate(step, SCHEDULE_STEPS, PEAK_RATE), loss)
        running += (loss.item() - running) * 0.02
        if step % 100 == 99:
            took = f"{time.monotonic() - start:.0f} s"
            print(f"encoder {step + 1} of {steps}: loss {running:.3f}, {took}", flush=True)
    return encoder
