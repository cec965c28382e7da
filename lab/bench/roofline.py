"""Computes the time of an answer on a Raspberry Pi 5 by a roofline model; nothing is measured.

In: the sizes of Gemma 4 E2B (model_shape.py) and published rates of a Pi 5. Out: the parts between
the owner's last word and the first sound, with the better and the worse value of each rate; and
which measurements from a real Pi would replace them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from appliance.hear.endpointing import LIKELY_END_FRAMES
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from appliance.think.speculative_prefill import HOP_FRAMES
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.model_shape import E2B, Shape, Tensor, text_tensors

FIRST_CLAUSE_TOKENS = 7  # the median in `bench answer --weights`
MARK_TOKENS = 12  # the instruction after the sound, the end of the question, the answer's start
TOKENS_A_SECOND = 25  # soft tokens of sound
VAD_MS = 62.0  # median, from the last sound to silence by the VAD (docs/benchmarks/endpoint.md)
LIKELY_END_MS = LIKELY_END_FRAMES * 1000 / RATE_HZ + VAD_MS
TURN_END_MS = load_defaults().hearing.turn.sure_ms + VAD_MS
# Sound that is not prefilled when the prefill of the question's end starts: half a piece, that
# silence, and the rest of the running piece.
LAST_PIECE_S = HOP_FRAMES / 2 / RATE_HZ + LIKELY_END_MS / 1000 + 0.04
VOICE_MS = (39.0, 100.0)  # hibari's first clause: measured on x86, estimated for a Pi
RING_AND_CARD_MS = (30.0, 45.0)  # measured on x86 by `interlude bench answer`


class Range(NamedTuple):
    """The better and the worse value of an unknown quantity."""

    best: float
    worst: float


@dataclass(frozen=True)
class MachineRates:
    """The rates of one machine.

    memory_gb_s    sequential reads of all cores together, GB/s
    prefill_rate   prompt tokens a second in large batches, all layers computed
    small_batch    a token's time in batches of 10 to 16, as a multiple of that in large ones
    encode_share   seconds of one core for a second of sound, int8
    """

    memory_gb_s: Range
    prefill_rate: Range
    small_batch: Range
    encode_share: Range


# Memory: 9.9 GB/s follow from 6.71 tokens/s of published decoding, 11.4 were published as measured
# in decoding; the data sheet has 17.1. Prompt tokens: llama.cpp, Q4_K_M, published for boards of 8
# and 16 GB; 1.7 was measured for batches of 12 and 16 on x86 (docs/benchmarks/model.md).
# Encoding: 7.4 G products for a second of sound, at 40 to 60 % of an A76's dot product rate.
PI_5 = MachineRates(Range(11.4, 9.9), Range(31.9, 28.0), Range(1.0, 1.7), Range(0.22, 0.30))


def drawn_bytes(shape: Shape) -> int:
    """Bytes of weights read for one sampled token: all layers and the output layer, which is the
    embedding table. Of the per-layer embedding table only one row is read."""
    return sum(
        tensor.rows * tensor.row_bytes
        for tensor in text_tensors(shape)
        if tensor.name != "per_layer_token_embd.weight"
    )


def prompt_share(shape: Shape) -> float:
    """The share of a prompt token's products that remains if the layers that write no keys and
    values are skipped (the patch of llama.cpp)."""
    last = shape.layers - shape.shared
    every = kept = 0
    for tensor in text_tensors(shape):
        if _is_matrix(tensor):
            products = tensor.rows * tensor.shape[-1]
            every += products
            kept += products if int(tensor.name.split(".")[1]) < last else 0
    return kept / every


def _is_matrix(tensor: Tensor) -> bool:
    return tensor.name.startswith("blk.") and len(tensor.shape) == 2


def parts_ms(
    rates: MachineRates, which: int, *, patched: bool = True, ahead: bool = True, shape: Shape = E2B
) -> dict[str, float]:
    """The parts from the owner's last word to the first sound, in ms. `which`: 0 the better value
    of each range, 1 the worse. `ahead`: work starts at the likely end of the question, before the
    turn is over."""
    prefill = rates.prefill_rate[which] / (prompt_share(shape) if patched else 1.0)
    encode = 1000 * LAST_PIECE_S * rates.encode_share[which]
    left = LAST_PIECE_S * TOKENS_A_SECOND + MARK_TOKENS
    read = 1000 * left * rates.small_batch[which] / prefill
    draw = 1000 * FIRST_CLAUSE_TOKENS * drawn_bytes(shape) / 1e9 / rates.memory_gb_s[which]
    model = encode + read + draw
    waits = max(TURN_END_MS - LIKELY_END_MS - model, 0.0) if ahead else 0.0
    return {
        "silence until it is begun": LIKELY_END_MS if ahead else TURN_END_MS,
        "encode the last piece": encode,
        "read it and the marks": read,
        f"draw {FIRST_CLAUSE_TOKENS} tokens": draw,
        "silence until the turn is over": waits,
        "voice": VOICE_MS[which],
        "ring and card": RING_AND_CARD_MS[which],
    }


def bench(options: BenchOptions) -> list[FigureTable]:
    """The table of the parts and their sums; no option has an effect."""
    sheet = FigureTable(
        "A Pi 5, computed: the owner's last word → the first sound, ms", ("", "better", "worse")
    )
    better, worse = (parts_ms(PI_5, which) for which in (0, 1))
    sheet.rows += [(name, round(better[name]), round(worse[name])) for name in better]
    for title, patched, ahead in (
        ("all of it", True, True),
        ("all of it, llama.cpp without the patch", False, True),
        ("all of it, begun when the turn is over", True, False),
    ):
        sums = (sum(parts_ms(PI_5, w, patched=patched, ahead=ahead).values()) for w in (0, 1))
        sheet.rows.append((title, *(round(value) for value in sums)))
    drawn = drawn_bytes(E2B) / 1e9
    sheet.notes += [
        f"A sampled token reads {drawn:.2f} GB of weights; at {PI_5.memory_gb_s.worst} to "
        f"{PI_5.memory_gb_s.best} GB/s that gives {PI_5.memory_gb_s.worst / drawn:.1f} to "
        f"{PI_5.memory_gb_s.best / drawn:.1f} tokens a second.",
        f"Prompt tokens: {PI_5.prefill_rate.worst} to {PI_5.prefill_rate.best} a second published "
        f"for llama.cpp; with the patch {100 * prompt_share(E2B):.0f} % of the products remain.",
        f"{LAST_PIECE_S:.2f} s of sound are not prefilled when prefill of the end starts, and "
        f"{MARK_TOKENS} tokens follow the sound; small batches cost as much per token as large "
        f"ones (better) or {PI_5.small_batch.worst} times as much (worse); the voice is hibari, as "
        "measured on x86 (better) or as estimated (worse). Nothing of this was run on a Pi.",
        "Measurements wanted from a Pi: `interlude bench model --json model.json` (tokens a "
        "second, prompt and drawn) and `interlude bench answer --json answer.json`.",
    ]
    return [sheet]
