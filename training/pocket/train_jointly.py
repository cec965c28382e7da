"""Stages 3 and 4: encoder and decoder are trained together on spoken conversations.

In: the corpus and the checkpoints of stages 1 and 2. Out: CHECKPOINT with both networks,
saved every few minutes, so that an interrupted run can be exported.
Two processes with one thread each share a step, which on two cores is faster than two threads.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, multiprocessing, nn

from training.pocket.audio_encoder import AudioEncoder
from training.pocket.batches import learning_rate, pad_clips, update
from training.pocket.conversation import VOCABULARY_SIZE, Conversations, collate, vocabulary
from training.pocket.rooms import Surroundings
from training.pocket.speech import Corpus
from training.pocket.text_decoder import TextDecoder, TextDecoderConfig
from training.pocket.train_decoder import answer_loss
from training.pocket.train_encoder import Phones, phone_loss

PEAK_RATE = 1.5e-3
# Steps and peak rate of each run of stage 3 ("train") and stage 4 ("tools"). Each run has a
# complete schedule of the rate.
RUNS = {
    "train": ((900, PEAK_RATE), (1900, PEAK_RATE), (1300, PEAK_RATE), (1300, PEAK_RATE)),
    "tools": ((1400, 1e-3), (1300, 1e-3)),
}
REQUESTS = 30  # in one step, over all processes
TURNS = (2, 4, 5, 5, 10)  # of a conversation; one number is drawn for each step
# Stage 2 has typed requests only, stage 3 few; the requests of stage 4 are new.
TYPED_SHARE = {"train": 0.06, "tools": 0.2}
FULL_SHARE, PHONES_WEIGHT, SAVE_EVERY = 0.1, 0.2, 100


def make_optimisers(networks: list[nn.Module]) -> list[torch.optim.Optimizer]:
    """Muon for the inner matrices, which needs fewer steps; AdamW for all other parameters."""
    named = [item for network in networks for item in network.named_parameters()]
    inside = [p for name, p in named if p.dim() == 2 and "words" not in name]
    others = [p for name, p in named if p.dim() != 2 or "words" in name]
    muon = torch.optim.Muon(
        inside, lr=PEAK_RATE, weight_decay=0.01, adjust_lr_fn="match_rms_adamw", ns_steps=4
    )
    return [muon, torch.optim.AdamW(others, lr=PEAK_RATE, weight_decay=0.01, betas=(0.9, 0.98))]


def fill(
    decoder: TextDecoder, ids: Tensor, soft: Tensor, rows: Tensor, tokens: Tensor, clips: int
) -> Tensor:
    """Word embeddings with the soft tokens `rows` [clips, longest, width] in their places.

    Rows from index `clips` on are padding.
    """
    embedded = decoder.embed(ids)
    real = torch.arange(rows.shape[1]) < tokens[:, None]
    real[clips:] = False
    return embedded.masked_scatter(
        soft[..., None].expand_as(embedded), rows[real].to(embedded.dtype)
    )


@dataclass(frozen=True)
class Run:
    folder: Path  # of the speech
    start: dict[str, Any]  # states of encoder and decoder
    out: Path
    steps: int
    processes: int = 2
    seed: int = 2
    peak: float = PEAK_RATE
    corpus: str = "train"


def learn(process: int, run: Run) -> None:
    """Train in one process, with random draws of its own; gradients are averaged over all."""
    steps, seed, start, out = run.steps, run.seed, run.start, run.out
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    patience = timedelta(minutes=20)
    meeting = f"file://{out}.meeting"
    distributed.init_process_group("gloo", meeting, patience, run.processes, process)
    encoder, decoder = AudioEncoder(), TextDecoder(TextDecoderConfig(vocabulary=VOCABULARY_SIZE))
    encoder.load_state_dict(start["encoder"])
    decoder.load_state_dict(start["decoder"])
    own = 1000 * seed + process
    corpus, g, shared = (
        Corpus(run.folder, run.corpus),
        np.random.default_rng(own),
        Random(seed),
    )
    typed_share = TYPED_SHARE[run.corpus]
    drawn = Conversations(vocabulary(), own, corpus, Surroundings(corpus.clip, len(corpus), g))
    phones = Phones(run.folder, run.corpus)
    head = torch.nn.Linear(encoder.config.width, len(phones.ids) + 2)
    optimisers = make_optimisers([encoder, decoder, head])
    began, running, known = time.monotonic(), 3.0, 0.0
    for step in range(steps):
        turns = shared.choice(TURNS)
        count = max(1, round(REQUESTS / run.processes / turns))
        drawn_now = [drawn.draw(turns, FULL_SHARE, typed_share) for _ in range(count)]
        ids, soft, targets, weights, clips = collate(drawn_now)
        said = [phones.of(text) for s in drawn_now for text in s.said]
        with torch.autocast("cpu", torch.bfloat16):
            states, tokens = encoder.encode(*pad_clips(clips))
            rows = fill(decoder, ids, soft, encoder.soft(states), tokens, len(clips))
            loss, right = answer_loss(decoder, rows, ids, targets, weights)
            also = phone_loss(head, states, tokens, said) if any(said) else 0.0
        rate = learning_rate(step, steps, run.peak)
        update(optimisers, rate, loss + PHONES_WEIGHT * also, average=True)
        running += (loss.item() - running) * 0.02
        known += (right.item() - known) * 0.02
        if process == 0 and step % 50 == 49:
            took = f"{time.monotonic() - began:.0f} s"
            where = f"together {step + 1} of {steps}"
            print(f"{where}: loss {running:.3f}, first words {known:.3f}, {took}", flush=True)
        if process == 0 and (step % SAVE_EVERY == SAVE_EVERY - 1 or step == steps - 1):
            torch.save({"encoder": encoder.state_dict(), "decoder": decoder.state_dict()}, out)
    distributed.destroy_process_group()


def learn_in_processes(run: Run) -> None:
    Path(f"{run.out}.meeting").unlink(missing_ok=True)
    if run.processes == 1:
        learn(0, run)
    else:
        multiprocessing.spawn(learn, (run,), run.processes)
