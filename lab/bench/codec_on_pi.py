"""Computes the cost of Mimi's decoder and a speech head on one core of a Raspberry Pi 5.

In: the sizes of the parts, and rates of one Cortex-A76. Out: milliseconds for a frame of 80 ms. A
part is bound by its products or by the weights that it reads; the better value is the longer of
the two times, the worse one their sum. Nothing is measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lab.bench.benches import FigureTable
from lab.bench.codec_weights import CHANNELS, INNER, LAYERS, RATIOS, WIDTH
from lab.bench.head_weights import (
    AHEAD,
    BACK,
    E2B,
    POINTS,
    POSITION,
    TOKEN_TAPS,
    HeadSizes,
)
from lab.bench.roofline import Range

FRAME_MS = 80.0
POSITIONS, CONTEXT = 2, 250  # of the transformer: positions of a frame, and those attended to

# Rates of one core at 2.4 GHz. Two fused multiply-adds on four numbers a cycle are 19.2 G products
# a second; matrix products of this size may reach 6 to 10 G. Eight bits: at most four times that.
# Memory: one core alone; all four together read 9.9 to 11.4 GB/s (roofline.py). All are estimates.
PRODUCTS_G_S = Range(10.0, 6.0)
PRODUCTS_INT8_G_S = Range(30.0, 15.0)
MEMORY_GB_S = Range(7.0, 5.0)


@dataclass(frozen=True)
class CostPart:
    """A part of the work for one frame.

    products  multiplications for a frame, in millions
    weights   weights read in a call of any number of frames, in millions
    moved_mb  other megabytes that a call reads and writes
    rounds    its weights may be in 8 bits
    """

    name: str
    products: float
    weights: float
    moved_mb: float = 0.0
    rounds: bool = False

    def ms(self, which: int, frames: int, *, int8: bool) -> float:
        """ms of one frame in a call of `frames`. `which`: 0 the better value, 1 the worse."""
        in_int8 = int8 and self.rounds
        rate = (PRODUCTS_INT8_G_S if in_int8 else PRODUCTS_G_S)[which]
        computed = self.products / rate
        read = (self.weights * (1 if in_int8 else 4) + self.moved_mb) / frames / MEMORY_GB_S[which]
        return computed + read if which else max(computed, read)


def mimi() -> list[CostPart]:
    """The parts of Mimi's decoder, in the order of the computation."""
    layer = 4 * WIDTH**2 + 2 * WIDTH * INNER
    attended = 2 * POSITIONS * CONTEXT * WIDTH
    cache_mb = 2 * LAYERS * CONTEXT * WIDTH * 4 / 1e6  # keys and values
    parts = [
        _part("projection of the codes", 1, WIDTH * WIDTH),
        CostPart("transformer", (POSITIONS * layer + attended) * LAYERS / 1e6,
                 LAYERS * layer / 1e6, rounds=True),
        CostPart("its keys and values, kept", 0.0, 0.0, moved_mb=4 * cache_mb),
        _part("SEANet: first convolution", POSITIONS, 7 * WIDTH * CHANNELS),
    ]  # fmt: skip
    channels, rows, elements = CHANNELS, POSITIONS, POSITIONS * CHANNELS
    for ratio in RATIOS:
        half = channels // 2
        upsampling = _part(f"SEANet: {ratio} times as many rows", rows, channels * half * 2 * ratio)
        rows, channels = rows * ratio, half
        block = _part("", rows, channels * channels * 2)  # three taps to a half, one back
        elements += rows * channels
        parts.append(
            CostPart(
                upsampling.name,
                upsampling.products + block.products,
                upsampling.weights + block.weights,
            )
        )
    parts.append(_part("SEANet: last convolution", rows, channels * 3))
    parts.append(CostPart("SEANet: activations, moved", 0.0, 0.0, moved_mb=12 * 4 * elements / 1e6))
    return parts


def _part(name: str, rows: int, weights: int) -> CostPart:
    return CostPart(name, rows * weights / 1e6, weights / 1e6)


TOKENS_A_SECOND, PHONES_A_SECOND, FRAMES_A_SECOND = 3.5, 16.0, 1000 / FRAME_MS  # of speech


def head(sizes: HeadSizes = E2B) -> tuple[CostPart, ...]:
    """The parts of a speech head. For each token its two neighbours are computed again, for each
    phone its eight; the weights are read once for such a group."""
    tokens, phones = TOKENS_A_SECOND / FRAMES_A_SECOND, PHONES_A_SECOND / FRAMES_A_SECOND
    points = (POINTS - 1) * (sizes.phone + POSITION) * sizes.point  # points after the first
    return (
        _average_part("head: tokens, each in a window of 3", TOKEN_TAPS, sizes.reader, tokens),
        _average_part(
            "head: phones, each in a window of 9", BACK + 1 + AHEAD, sizes.phones, phones
        ),
        CostPart("head: a frame", (sizes.frames + points) / 1e6, sizes.frames / 1e6, rounds=True),
        CostPart("head: the codec's eight books", sizes.books / 1e6, sizes.books / 1e6),
    )


def _average_part(name: str, rows: int, weights: int, times: float) -> CostPart:
    """A part that runs `times` a frame on average, over `rows` rows each time."""
    return CostPart(name, rows * weights * times / 1e6, weights * times / 1e6, rounds=True)


HEAD = head()


def sheets() -> list[FigureTable]:
    """A table of the parts, one frame a call, and one of the sums."""
    parts = [*mimi(), *HEAD]
    by_part = FigureTable(
        "One core of a Pi 5, computed: ms for a frame of 80 ms, one frame a call",
        ("part", "M products", "M weights", "fp32", "int8"),
    )
    for part in parts:
        by_part.rows.append((
            part.name, round(part.products, 1), round(part.weights, 1),
            _range(part, int8=False), _range(part, int8=True),
        ))  # fmt: skip
    sums = FigureTable(
        "One core of a Pi 5, computed: all of it",
        ("what", "frames a call", "ms a frame", "share of the core"),
        names=2,
    )
    for name, which_parts, forms in (
        ("Mimi's decoder, fp32", mimi(), False),
        ("Mimi's decoder, transformer in int8", mimi(), True),
        ("with the head, both in int8", parts, True),
    ):
        for frames in (1, 2):
            total = [
                math.fsum(
                    part.ms(which, 1 if part in HEAD else frames, int8=forms)
                    for part in which_parts
                )
                for which in (0, 1)
            ]
            shares = f"{total[0] / FRAME_MS:.2f} to {total[1] / FRAME_MS:.2f}"
            sums.rows.append((name, str(frames), f"{total[0]:.0f} to {total[1]:.0f}", shares))
    sums.notes.append(
        "Nothing of this was run on a Pi. A language model that samples at the same time competes "
        "with it for memory bandwidth. The head makes one frame at a time."
    )
    return [by_part, sums]


def _range(part: CostPart, *, int8: bool) -> str:
    better, worse = (part.ms(which, 1, int8=int8) for which in (0, 1))
    return f"{better:.1f} to {worse:.1f}"
