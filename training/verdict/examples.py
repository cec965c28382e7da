"""Bursts as training data: features are computed once, augmentation is random for each batch.

In: bursts. Out: tensors (N, T, 50) of rows with class and word, T even, and the number of valid
rows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from appliance.hear.bargein.features import (
    BANDS,
    GIVEN_MS,
    HOP_FRAMES,
    LOUDER,
    PAST_MS,
    PITCH,
    WIDTH,
    BlockMeasures,
    all_rows,
)
from appliance.pcm import BLOCK_FRAMES
from training.verdict.dataset import Bursts

ROWS = 88  # from 140 ms before the onset to 740 ms after it
KINDS = ("backchannel", "interruption", "noise")
NOISY = 0.5  # share of a batch's bursts that get more noise
LEVEL_DB = 40.0  # stands for an unknown loudness


@dataclass(frozen=True)
class Examples:
    """rows (N, 88, 50) and levels (N, 88) in 16 bits; rows from `until` on are not judged."""

    rows: npt.NDArray[np.float16]
    level_db: npt.NDArray[np.float16]
    usual_db: npt.NDArray[np.float32]
    until: npt.NDArray[np.int32]
    kind: npt.NDArray[np.int64]
    word: npt.NDArray[np.int64]
    about: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.kind)


def examples(bursts: Bursts, words: list[str]) -> Examples:
    """Rows of each burst; `words` are the classes of the second task."""
    number = {word: i for i, word in enumerate(words)}
    count = len(bursts.about)
    rows = np.zeros((count, ROWS, WIDTH), np.float16)
    level = np.full((count, ROWS), LEVEL_DB, np.float16)
    until = np.zeros(count, np.int32)
    for i, about in enumerate(bursts.about):
        past, steps = int(about["past_steps"]), int(bursts.steps[i])
        sound = bursts.sound[i].reshape(-1, BLOCK_FRAMES)
        later = list(sound[past : past + steps])
        measures = [
            BlockMeasures(float(e), float(f), float(p), 0.0, float(q))
            for e, f, p, _, q in bursts.measures[i, : len(later)]
        ]
        made = all_rows(sound[:past].ravel(), later, measures)[:ROWS]
        rows[i, : len(made)] = made
        until[i] = len(made)
        skipped = (GIVEN_MS - PAST_MS) // 10
        ends = (np.arange(len(made)) + 1 + skipped) * (HOP_FRAMES // BLOCK_FRAMES) - past - 1
        here = (ends >= 0) & (ends < len(later))
        level[i, np.flatnonzero(here)] = bursts.measures[i, ends[here], 3]
    kinds = np.array([KINDS.index(a["kind"]) for a in bursts.about], np.int64)
    said = np.array([number.get(group(a), -1) for a in bursts.about], np.int64)
    return Examples(rows, level, _usual(level, bursts), until, kinds, said, bursts.about)


def group(about: dict[str, Any]) -> str:
    """The burst's label in the second task: class and word, or class and name of a noise."""
    return f"{about['kind']} {about['word']}".lower()


def ages_ms() -> npt.NDArray[np.int_]:
    """The ages of the network's outputs, one for each two rows, in ms after the onset."""
    return (np.arange(ROWS // 2) + 1) * 20 - PAST_MS


def batch(
    some: Examples,
    which: npt.NDArray[np.int_],
    chance: np.random.Generator | None,
    noisy: float = NOISY,
) -> torch.Tensor:
    """The rows of these bursts, unchanged if `chance` is None, else augmented."""
    rows = some.rows[which].astype(np.float32)
    if chance is None:
        return torch.from_numpy(rows)
    count = len(which)
    level = some.level_db[which].astype(np.float32)
    _louder(rows, level, some.usual_db[which], chance)
    rows[:, :, :BANDS] = rows[:, :, :BANDS] @ _sizes(count, chance)
    tilt = chance.uniform(-0.25, 0.25, (count, 1, 1)) * np.linspace(-1, 1, BANDS)
    rows[:, :, :BANDS] += (tilt + chance.normal(0, 0.06, (count, 1, BANDS))).astype(np.float32)
    _noisier(rows, noisy, chance)
    pitch = rows[:, :, PITCH]
    rows[:, :, PITCH] = pitch + (pitch != 0) * chance.uniform(-0.3, 0.3, (count, 1))
    for row in rows:
        width = int(chance.integers(0, 9))
        at = int(chance.integers(0, BANDS - width))
        row[:, at : at + width] = 0
        first, missed = int(chance.integers(0, ROWS - 6)), int(chance.integers(0, 6))
        row[first : first + missed, :BANDS] = 0
    return torch.from_numpy(rows)


def _noisier(rows: npt.NDArray[np.float32], share: float, chance: np.random.Generator) -> None:
    """Add steady noise 14 to 50 dB below the peak, of random slope, to this share of the bursts, in
    place. Bands are in units of 20 dB with the peak at 1, so a power is 10 ** (2 x)."""
    which = np.flatnonzero(chance.random(len(rows)) < share)
    level = chance.uniform(-1.5, 0.3, (len(which), 1))
    slope = chance.uniform(-0.5, 0.5, (len(which), 1)) * np.linspace(-1, 1, BANDS)
    noise = 10 ** (2 * (level + slope))[:, None]
    flutter = chance.gamma(3.0, 1 / 3, (len(which), ROWS, BANDS)).astype(np.float32)
    power = 10 ** (2 * rows[which, :, :BANDS]) + noise.astype(np.float32) * flutter
    rows[which, :, :BANDS] = 0.5 * np.log10(power)


def _sizes(count: int, chance: np.random.Generator) -> npt.NDArray[np.float32]:
    """Matrices (count, 40, 40) that change the size of each speaker's vocal tract: bands stretched
    by up to a twentieth and shifted by up to one."""
    place = np.arange(BANDS) * (1 + chance.uniform(-0.05, 0.05, (count, 1)))
    place = np.clip(place + chance.uniform(-1.0, 1.0, (count, 1)), 0, BANDS - 1.001)
    low = place.astype(int)
    share = (place - low).astype(np.float32)
    made = np.zeros((count, BANDS, BANDS), np.float32)
    which, to = np.arange(count)[:, None], np.arange(BANDS)[None]
    made[which, low, to] = 1 - share
    made[which, low + 1, to] = share
    return made


def _louder(
    rows: npt.NDArray[np.float32],
    level_db: npt.NDArray[np.float32],
    usual_db: npt.NDArray[np.float32],
    chance: np.random.Generator,
) -> None:
    """Set the loudness relative to this owner's usual, in place.

    It is unknown in half of the bursts, as in a box that has not heard a complete turn yet.
    """
    usual = usual_db + chance.normal(0, 2.0, len(rows))
    tells = (chance.random(len(rows)) < 0.5) & np.isfinite(usual)
    known = tells[:, None] & (level_db < LEVEL_DB)
    louder = np.clip((level_db - np.nan_to_num(usual)[:, None]) / 10, -2, 2)
    rows[:, :, LOUDER] = np.where(known, louder, 0.0)


def _usual(level_db: npt.NDArray[np.float16], bursts: Bursts) -> npt.NDArray[np.float32]:
    """The usual loudness of the owner of each burst's scene: the median of the speech in it."""
    loudness: dict[str, list[float]] = defaultdict(list)
    for i, about in enumerate(bursts.about):
        known = level_db[i][level_db[i] < LEVEL_DB]
        if len(known) and about["kind"] != "noise":
            loudness[about["scene"]].append(float(known[-1]))
    return np.array(
        [np.median(loudness[a["scene"]]) if loudness[a["scene"]] else np.nan for a in bursts.about],
        np.float32,
    )
