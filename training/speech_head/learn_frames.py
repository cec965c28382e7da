"""The head's second training stage, with sound: from phones in time to the codec's latents.

The reader is fixed. The networks Phones and Frames are trained, on the teacher's phones and times,
to predict the codec's latents in all eight phases of a frame (the same speech up to 70 ms later).
The latents' basis is orthonormal, so their error is the error of the weighted parameters. Out:
head-spoken.pt in the folder.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from training.speech_head import learn_codec, learn_phones
from training.speech_head.bands import STACK
from training.speech_head.codec import Codec
from training.speech_head.dataset import Dataset, under
from training.speech_head.head import AHEAD, BACK, Head, position
from training.speech_head.lesson import Lesson

LAST = "head-spoken.pt"
EVERY = 100  # steps
BATCH, LENGTH, LEAD = 20, 24, 3  # crops of a step, frames of a crop, first ones without a loss
MARGIN = 6  # phones around a crop that the phone network needs


class Targets:
    """Latents [frames, 96] of spoken rows in each of eight phases, computed once on demand."""

    def __init__(self, data: Dataset, codec: Codec) -> None:
        self.data, self.codec = data, codec
        self.known: dict[tuple[int, int], Tensor] = {}

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def of(self, i: int, late: int) -> Tensor:
        if (i, late) not in self.known:
            r = self.data.rows[i]
            p = self.data.arrays["parameters"][r["hop"] : r["hop"] + r["hops"]]
            x = torch.from_numpy(p.astype(np.float32))
            late_too = torch.cat([x[:1].expand(late, -1), x])
            self.known[i, late] = self.codec.encode(late_too)
        return self.known[i, late]


class Crops:
    def __init__(self, data: Dataset, targets: Targets, head: Head, rows: list[int]) -> None:
        self.data, self.targets, self.rows = data, targets, rows
        with torch.no_grad():
            self.tokens = {
                i: head.reader(data.states[data.tokens_of(i)].float()[None])[0][0] for i in rows
            }
        self.share = np.array([data.rows[i]["hops"] for i in rows], float)
        self.share /= self.share.sum()

    def draw(self, g: np.random.Generator, size: int = BATCH) -> list[tuple[Tensor, ...]]:
        chosen = g.choice(self.rows, size, p=self.share)
        return [self.cut(int(i), int(g.integers(STACK)), g) for i in chosen]

    def cut(self, i: int, late: int, g: np.random.Generator) -> tuple[Tensor, ...]:
        line, wanted = self.data.lines[i], self.targets.of(i, late)
        n = min(LENGTH, len(wanted))
        first = int(g.integers(0, len(wanted) - n + 1))
        index, t = under(line, first, n, late)
        low = max(0, int(index.min()) - MARGIN)
        high = min(len(line.symbols), int(index.max()) + MARGIN)
        start, end, breath = (
            torch.from_numpy(x[index]) for x in (line.start, line.end, line.breath)
        )
        at = position(start, end, breath, torch.from_numpy(t))
        seconds = torch.from_numpy(line.end - line.start)[low:high].float()
        return (
            torch.from_numpy(line.symbols[low:high]),
            self.tokens[i][torch.from_numpy(line.owner[low:high])],
            seconds, torch.from_numpy(index - low), at.float(), wanted[first : first + n],
        )  # fmt: skip


def together(parts: list[tuple[Tensor, ...]]) -> list[Tensor]:
    out = [
        torch.nn.utils.rnn.pad_sequence(list(x), batch_first=True) for x in zip(*parts, strict=True)
    ]
    judged = [F.pad(torch.ones(len(p[5]) - LEAD), (LEAD, 0)) for p in parts]
    return [*out, torch.nn.utils.rnn.pad_sequence(judged, batch_first=True)]


def forward(head: Head, b: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The head's latents for a batch, and its error in log durations."""
    symbols, tokens, seconds, index, at, _, _ = b
    real = (symbols > 0).float()
    x, length = head.phones(symbols, tokens, real[..., None])
    inner = real.clone()  # at a crop's borders a duration lacks some of its neighbours
    inner[:, :BACK] = 0.0
    inner[:, :-AHEAD] *= real[:, AHEAD:]
    inner[:, -AHEAD:] = 0.0
    off = ((length + 0.01).log() - (seconds + 0.01).log()).abs()
    flat = index.flatten(1)[..., None].expand(-1, -1, x.shape[-1])
    below = x.gather(1, flat).reshape(*index.shape, -1)
    z, _ = head.frames(below, at, head.frames.start(len(symbols)))
    return z, (off * inner).sum() / inner.sum()


def losses(head: Head, b: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Mean square error of the latents relative to their variance; error in log durations."""
    z, length = forward(head, b)
    wanted, judged = b[5:]
    off = (z - wanted).pow(2).sum(-1) / head.frames.spread.pow(2).sum()
    return (off * judged).sum() / judged.sum(), length


def train(folder: Path, steps: int, seed: int = 0, *, again: bool = False) -> Head:
    """Train Phones and Frames. `again`: continue from the saved weights with a new schedule."""
    torch.manual_seed(seed)
    g, data = np.random.default_rng(seed), Dataset(folder)
    codec = learn_codec.load(folder)
    head, _ = learn_phones.load(folder)
    rows, check = (
        data.of("trained", "made", spoken=True),
        data.of("held_out", "made_held_out", spoken=True)[:24],
    )
    targets = Targets(data, codec)
    every = torch.cat([targets.of(i, 0) for i in rows])
    head.frames.mean.copy_(every.mean(0))
    head.frames.spread.copy_(every.std(0))
    if again:
        head.load_state_dict(torch.load(folder / LAST))
    crops, checks = Crops(data, targets, head, rows), Crops(data, targets, head, check)
    fixed = together(checks.draw(np.random.default_rng(1), 60))
    print(len(rows), "rows,", len(every), "frames", flush=True)

    def step() -> tuple[Tensor, tuple[Tensor, ...]]:
        found = losses(head, together(crops.draw(g)))
        return found[0] + 0.1 * found[1], found

    weights = [*head.phones.parameters(), *head.frames.parameters()]
    lesson = Lesson(head, weights, steps, EVERY, folder / LAST)
    lesson.learn(step, lambda: losses(head, fixed))
    return head


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    train(Path(sys.argv[1]), int(sys.argv[2]), again="again" in sys.argv)
