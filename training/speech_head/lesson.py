"""One training stage of a network: steps with a warm-up and a cosine schedule of the rate, regular
evaluation on held-out data, and checkpoints in a file."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

RATE, WARM_UP, LAST_RATE = 2e-3, 50, 0.02  # of Adam; steps; last rate relative to the first
DECAY, BETAS, STEEPEST = 0.02, (0.9, 0.98), 1.0
LOOKED_BACK = 50  # last steps whose means are printed

Numbers = Sequence[Tensor]


@dataclass(frozen=True)
class Lesson:
    """The training of `weights`, a part of `network`.

    every  steps between two evaluations on held-out data, each followed by a checkpoint in `file`
    """

    network: nn.Module
    weights: list[nn.Parameter]
    steps: int
    every: int
    file: Path

    def learn(
        self, step: Callable[[], tuple[Tensor, Numbers]], held_out: Callable[[], Numbers]
    ) -> None:
        """Train.

        step      returns the loss of a new batch, and numbers to print
        held_out  returns the same numbers for held-out data
        """
        optimiser = torch.optim.AdamW(self.weights, RATE, betas=BETAS, weight_decay=DECAY)
        begin, log = time.time(), list[list[float]]()
        self.network.train()
        for done in range(1, self.steps + 1):
            for group in optimiser.param_groups:
                group["lr"] = rate(done - 1, self.steps)
            loss, numbers = step()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.weights, STEEPEST)
            optimiser.step()
            log.append([float(x.detach()) for x in numbers])
            if done % self.every == 0 or done == self.steps:
                found = [f"{x:.3f}" for x in np.mean(log[-LOOKED_BACK:], 0)]
                seconds = time.time() - begin
                print(
                    done, f"{seconds:.0f} s", *found, "held out", *self.look(held_out), flush=True
                )
                torch.save(self.network.state_dict(), self.file)
        self.network.eval()

    def look(self, held_out: Callable[[], Numbers]) -> list[str]:
        self.network.eval()
        with torch.no_grad():
            found = [f"{float(x):.3f}" for x in held_out()]
        self.network.train()
        return found


def rate(done: int, steps: int) -> float:
    """The learning rate after `done` of `steps` steps."""
    cosine = 0.5 * (1 + float(np.cos(np.pi * done / steps)))
    return RATE * min(1.0, (done + 1) / WARM_UP) * ((1 - LAST_RATE) * cosine + LAST_RATE)
