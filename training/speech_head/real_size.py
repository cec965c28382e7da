"""Measures the head at the size of Gemma 4 E2B and Mimi, with random weights: memory and speed.

In: the number of runs to time. Out, printed: parameters of each network, CPU milliseconds for a
token, a phone and a frame on one thread, and for one training step of a small batch. Nothing is
trained here.
"""

import resource
import sys
import time
from collections.abc import Callable

import torch

from training.speech_head.head import AHEAD, BACK, E2B, FRAME_S, POINTS, POSITION, Head

PHONES_A_SECOND, TOKENS_A_SECOND = 16.0, 3.5  # of the teacher's speech
BATCH, LENGTH = 8, 50  # crops, frames


def timed(work: Callable[[], object], times: int) -> float:
    """CPU milliseconds of one call."""
    work()
    begin = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begin) / times * 1000


def measure(times: int) -> dict[str, float]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    head, c = Head(E2B).eval(), E2B
    sizes = {n: sum(p.numel() for p in m.parameters()) / 1e6 for n, m in head.named_children()}
    states, near = torch.randn(1, 3, 1 + c.layers, c.width), BACK + 1 + AHEAD
    tokens, symbols = torch.randn(1, near, c.token), torch.ones(1, near, dtype=torch.long)
    under, at = torch.randn(1, 1, POINTS, c.phone), torch.rand(1, 1, POINTS, POSITION)
    with torch.no_grad():
        token = timed(lambda: head.reader(states), times)
        phone = timed(lambda: head.phones(symbols, tokens, torch.ones(1, 1, 1)), times)
        frame = timed(lambda: head.frames(under, at, head.frames.start(1)), times)
    a_second = token * TOKENS_A_SECOND + phone * PHONES_A_SECOND + frame / FRAME_S
    optimiser = torch.optim.AdamW(head.frames.parameters())

    def step() -> None:
        many = torch.randn(BATCH, LENGTH, POINTS, c.phone)
        z, _ = head.frames(
            many, torch.rand(BATCH, LENGTH, POINTS, POSITION), head.frames.start(BATCH)
        )
        optimiser.zero_grad()
        z.pow(2).mean().backward()
        optimiser.step()

    found = {f"{n}, million parameters": round(v, 1) for n, v in sizes.items()}
    found |= {"token, ms": token, "phone, ms": phone, "frame, ms": frame}
    found["real-time factor"] = a_second / 1000
    found[f"step of {BATCH * LENGTH} frames, ms"] = timed(step, 2)
    found["most memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


if __name__ == "__main__":
    for name, value in measure(int(sys.argv[1])).items():
        print(f"{name}: {value:.3f}")
