"""The evaluation of opinions; these tests need torch, which only a training machine has."""

from __future__ import annotations

import numpy as np
import pytest

from tests import skips

pytest.importorskip("torch", reason=skips.TRAINING)

from appliance.settings import load_defaults
from training.verdict import evaluate
from training.verdict.examples import ROWS, Examples, ages_ms

COUNT = len(ages_ms())


def opinions(odds: tuple[float, float, float], until: int = ROWS) -> evaluate.Opinions:
    """One burst with a constant opinion that was silent all the time."""
    rows = np.zeros((1, ROWS, 50), np.float16)
    level, usual = np.zeros((1, ROWS), np.float16), np.zeros(1, np.float32)
    about = [{"scene": "tuning 1", "word": "yes", "origin": "real", "who": "a", "length_ms": 300}]
    some = Examples(rows, level, usual, np.array([until], np.int32), np.zeros(1, int),
                    np.zeros(1, int), about)  # fmt: skip
    return evaluate.Opinions(
        np.tile(np.array(odds), (1, COUNT, 1)), np.full((1, COUNT), 300.0), some
    )


@pytest.mark.parametrize(
    ("odds", "until", "verdict"),
    [
        ((0.98, 0.01, 0.01), ROWS, "backchannel"),
        ((0.1, 0.8, 0.1), ROWS, "interruption"),  # at the deadline, after silence
        ((0.02, 0.03, 0.95), 30, "noise"),  # cut off, and the network heard no voice
        ((0.1, 0.2, 0.7), 30, None),  # cut off while it could still have become a voice
        ((0.3, 0.4, 0.3), 30, None),  # cut off while the box would still have listened
    ],
)
def test_a_burst_gets_the_boxs_verdict(
    odds: tuple[float, float, float], until: int, verdict: str | None
) -> None:
    kinds, _ = evaluate.verdicts(opinions(odds, until), load_defaults().hearing.verdict)
    assert kinds == [verdict]


def test_a_burst_is_counted_under_the_conditions_of_its_room() -> None:
    lines = evaluate.errors(opinions((0.98, 0.01, 0.01)), load_defaults().hearing.verdict)
    assert sum("people backchannels | 1 | 0.0%" in line for line in lines) == 5
