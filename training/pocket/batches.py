"""Pads clips to batches, and does one optimiser step with a learning-rate schedule.

In: lists of float clips of different lengths. Out: one padded tensor and the lengths.
"""

import numpy as np
import torch

from training.pocket.sound import Array

# Shapes are rounded up, so that the matrix library need not compile a new kernel at every step.
CLIP_STEP_SAMPLES, CLIPS_STEP = 5120, 4  # 8 tokens


def round_up(count: int, step: int) -> int:
    return -(-count // step) * step


def pad_clips(clips: list[Array]) -> tuple[torch.Tensor, torch.Tensor]:
    """[clips, samples] of float32, [clips] sample counts; further clips of one token are silent."""
    silent = round_up(len(clips), CLIPS_STEP) - len(clips)
    lengths = torch.tensor([len(c) for c in clips] + [640] * silent)
    wave = torch.zeros(len(lengths), round_up(int(lengths.max()), CLIP_STEP_SAMPLES))
    for row, clip in zip(wave, clips, strict=False):
        row[: len(clip)] = torch.from_numpy(clip)
    return wave, lengths


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Linear warm-up to `peak`, then a half cosine down to a fiftieth of it."""
    warm = min(100, steps // 6)
    if step < warm:
        return peak * (step + 1) / warm
    done = (step - warm) / max(1, steps - warm)
    return float(peak * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * done))))


def update(
    optimisers: list[torch.optim.Optimizer],
    rate: float,
    loss: torch.Tensor,
    limit: float = 1.0,
    average: bool = False,
) -> None:
    """One optimiser step; with `average` the gradients are first averaged over all processes."""
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad()
    loss.backward()
    everything = [p for o in optimisers for g in o.param_groups for p in g["params"]]
    if average:
        flat = torch.cat(
            [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in everything]
        )
        torch.distributed.all_reduce(flat)
        flat /= torch.distributed.get_world_size()
        for p, part in zip(everything, flat.split([p.numel() for p in everything]), strict=True):
            p.grad = part.view_as(p).clone()
    torch.nn.utils.clip_grad_norm_([p for p in everything if p.grad is not None], limit)
    for optimiser in optimisers:
        optimiser.step()
