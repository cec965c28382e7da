"""The corpus as training data of a head: tokens with their phones, and phones under frames."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.speech_head import corpus
from training.speech_head.head import FRAME_S, POINT_S, POINTS

SILENCE = "_"


@dataclass(frozen=True)
class Line:
    """A row's phones in order.

    symbols, owner  the symbol and its token
    start, end      in seconds
    breath          start of the silence before its sentence, in seconds
    """

    symbols: NDArray[np.int64]
    owner: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    breath: NDArray[np.float64]


class Dataset:
    def __init__(self, folder: Path) -> None:
        alphabet, self.rows, self.arrays = corpus.load(folder)
        used = sorted({int(i) for i in np.unique(self.arrays["symbols"])} - {0})
        self.symbols = ["", *(alphabet[i] for i in used)]
        number = np.zeros(len(alphabet), np.int64)
        number[used] = np.arange(1, len(used) + 1)
        self.table = number[self.arrays["symbols"]]  # [tokens, slots]
        self.seconds = self.arrays["seconds"].astype(np.float64)
        self.states = torch.from_numpy(self.arrays["states"])
        self.lines = [self.line(r) for r in self.rows]

    def line(self, row: dict[str, Any]) -> Line:
        cut = slice(row["token"], row["token"] + row["tokens"])
        table, seconds = self.table[cut], self.seconds[cut]
        owner, slot = np.nonzero(table)
        symbols, length = table[owner, slot], seconds[owner, slot]
        end = np.cumsum(length)
        start = end - length
        silent = symbols == self.symbols.index(SILENCE)
        breath = np.maximum.accumulate(np.where(silent, start, 0.0))
        return Line(symbols, owner, start, end, breath)

    def of(self, *kinds: str, spoken: bool = False) -> list[int]:
        return [
            i for i, r in enumerate(self.rows) if r["kind"] in kinds and (r["hops"] or not spoken)
        ]

    def tokens_of(self, i: int) -> slice:
        return slice(self.rows[i]["token"], self.rows[i]["token"] + self.rows[i]["tokens"])


def padded(parts: list[Tensor]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)


def under(
    line: Line, first: int, frames: int, late: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The phone under each point of frames `first` … of a row that starts `late` hops late:
    [frames, 8] indices of phones, and times in seconds."""
    t = (first + np.arange(frames))[:, None] * FRAME_S + (np.arange(POINTS) + 0.5) * POINT_S
    t -= late * POINT_S
    return np.minimum(np.searchsorted(line.end, t, side="right"), len(line.end) - 1), t
