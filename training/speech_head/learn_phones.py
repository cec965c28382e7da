"""The head's first training stage, without sound: the phones of each token, and their durations.

Out: head.pt and symbols.json in the corpus's folder. Noise is added to the states, since those of
spoken requests differ from those of typed ones by an eighth (low layers) to a quarter (high ones).
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from training.speech_head.dataset import Dataset, padded
from training.speech_head.head import Head, HeadConfig
from training.speech_head.lesson import Lesson

TOKENS = 640  # approximate size of a batch
FIRST = "head.pt"
EVERY = 100  # steps
HEARD = 80  # held-out rows that are evaluated
LAYER_NOISE, EMBEDDING_NOISE = 0.25, 0.02  # relative to a state's standard deviation


def batch(data: Dataset, rows: list[int]) -> tuple[Tensor, ...]:
    """states [B, T, 7, width], phones of tokens [B, T, slots], 1 for a token [B, T], and the lines'
    symbols, owners and seconds [B, P]; padded with 0."""
    states = padded([data.states[data.tokens_of(i)].float() for i in rows])
    table = padded([torch.from_numpy(data.table[data.tokens_of(i)]) for i in rows])
    lines = [data.lines[i] for i in rows]
    symbols = padded([torch.from_numpy(x.symbols) for x in lines])
    owner = padded([torch.from_numpy(x.owner) for x in lines])
    seconds = padded([torch.from_numpy(x.end - x.start).float() for x in lines])
    there = padded([torch.ones(data.rows[i]["tokens"]) for i in rows])
    return states, table, there, symbols, owner, seconds


def losses(head: Head, b: tuple[Tensor, ...]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Cross entropy of phones; mean error of log durations; shares of tokens with all phones right
    and of phones that are right."""
    states, table, there, symbols, owner, seconds = b
    x, z = head.reader(states)
    ce = F.cross_entropy(z.flatten(0, 2), table.flatten(), reduction="none").reshape(table.shape)
    # Empty slots count a tenth: a token may have no phone, such as a space or the 1 of 13.
    weight = there[..., None] * torch.where(table > 0, 1.0, 0.1)
    spelling = (ce * weight).sum() / weight.sum()
    guess = z.argmax(-1)
    right = ((guess == table).all(-1) * there).sum() / there.sum()
    phones = ((guess == table) * (table > 0)).sum() / (table > 0).sum()
    length = durations(head, x, symbols, owner, seconds)
    return spelling, length, right, phones


def durations(head: Head, x: Tensor, symbols: Tensor, owner: Tensor, seconds: Tensor) -> Tensor:
    real = (symbols > 0).float()
    own = x.gather(1, owner[..., None].expand(-1, -1, x.shape[-1]))
    _, found = head.phones(symbols, own, real[..., None])
    off = ((found + 0.01).log() - (seconds + 0.01).log()).abs()
    return (off * real).sum() / real.sum()


def alike(data: Dataset, rows: list[int], g: np.random.Generator) -> list[int]:
    """Random rows of similar length with TOKENS tokens in all. `rows` are sorted by length."""
    chosen = [int(g.integers(len(rows)))]
    length = data.rows[rows[chosen[0]]]["tokens"]
    low = max(0, min(chosen[0], len(rows) - 1) - 60)
    pool = np.arange(low, min(len(rows), chosen[0] + 60))
    size = max(1, min(len(pool), TOKENS // length))
    return [rows[k] for k in g.choice(pool, size, replace=False)]


def noisy(states: Tensor) -> Tensor:
    noise = torch.randn_like(states) * states.std()
    noise[:, :, 0] *= EMBEDDING_NOISE * float(states[:, :, 0].std() / states.std())
    noise[:, :, 1:] *= LAYER_NOISE
    return states + noise


def train(folder: Path, steps: int, seed: int = 0) -> Head:
    torch.manual_seed(seed)
    g, data = np.random.default_rng(seed), Dataset(folder)
    layers, width = data.states.shape[1] - 1, data.states.shape[2]
    head = Head(
        HeadConfig(width=width, layers=layers, symbols=len(data.symbols), slots=data.table.shape[1])
    )
    print(
        "parameters", {n: sum(p.numel() for p in m.parameters()) for n, m in head.named_children()}
    )
    rows, check = (
        data.of("trained", "made"),
        data.of("made_held_out", "held_out", "spelled_held_out"),
    )
    rows.sort(key=lambda i: int(data.rows[i]["tokens"]))
    print(len(rows), "rows,", len(data.symbols), "symbols", flush=True)

    def step() -> tuple[Tensor, tuple[Tensor, ...]]:
        states, *rest = batch(data, alike(data, rows, g))
        found = losses(head, (noisy(states), *rest))
        return found[0] + 0.3 * found[1], found

    lesson = Lesson(head, list(head.parameters()), steps, EVERY, folder / FIRST)
    lesson.learn(step, lambda: losses(head, batch(data, check[-HEARD:])))
    (folder / "symbols.json").write_text(json.dumps(data.symbols))
    return head


def load(folder: Path, name: str = FIRST) -> tuple[Head, list[str]]:
    symbols = json.loads((folder / "symbols.json").read_text())
    weights = torch.load(folder / name)
    slots = weights["reader.slots.bias"].numel() // len(symbols)
    layers, width = weights["reader.mix"].numel(), weights["reader.enter.weight"].shape[1] // 2
    head = Head(HeadConfig(width=width, layers=layers, symbols=len(symbols), slots=slots))
    if name == FIRST:  # its frames network is untrained
        weights = {k: v for k, v in weights.items() if not k.startswith("frames.")}
    head.load_state_dict(weights, strict=name != FIRST)
    return head.eval(), symbols


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    train(Path(sys.argv[1]), int(sys.argv[2]))
