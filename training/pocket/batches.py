"""Batches of clips as the networks take them.

In: lists of float clips of different lengths. Out: one padded tensor and the lengths.
"""

import numpy as np
import torch


def pad_clips(clips: list[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """[clips, samples] of float32, [clips] sample counts."""
    lengths = torch.tensor([len(c) for c in clips])
    wave = torch.zeros(len(clips), int(lengths.max()))
    for row, clip in zip(wave, clips, strict=True):
        row[: len(clip)] = torch.from_numpy(clip)
    return wave, lengths


def learning_rate(step: int, steps: int, peak: float, warm: int = 100) -> float:
    """Up in a line, down in a half cosine to a fiftieth."""
    if step < warm:
        return peak * (step + 1) / warm
    done = (step - warm) / max(1, steps - warm)
    return peak * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * done)))


def update(optimiser, rate: float, loss: torch.Tensor, limit: float = 1.0) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([p for g in optimiser.param_groups for p in g["params"]], limit)
    optimiser.step()
