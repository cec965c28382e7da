"""An encoding aborted from another thread: the time of the order, and how long it took."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from lab.bench.model_abort import EARLIEST, LATEST, abort_shares, abort_time_ms, abort_times_ms
from lab.bench.model_parts import Job, clip, loaded
from tests.lab.bench.tiny_model import SETTINGS


# ── aborted encodings ────────────────────────────────────────────────────────────────────────
def test_abort_orders_are_spread_over_the_encoding() -> None:
    shares = sorted(abort_shares(60))
    assert EARLIEST <= shares[0] < 0.1
    assert 0.8 < shares[-1] <= LATEST
    assert max(np.diff(shares)) < 0.05


def test_an_order_that_came_too_late_is_repeated_with_the_measured_duration(
    files: tuple[Path, Path],
) -> None:
    """Simulates a machine that was busy at first: the first estimate of an encoding is a minute."""
    job = Job("abort", str(files[0]), str(files[1]), SETTINGS)
    numbers = itertools.count(1)
    with loaded(job) as model:
        times_ms = list(abort_times_ms(model, lambda: clip(12, next(numbers)), lambda: 60.0, 4))
    assert len(times_ms) == 4
    assert next(numbers) - 1 >= 5  # the first encoding ended before its order


def test_the_time_is_counted_from_the_order_and_is_none_for_a_finished_encoding(
    files: tuple[Path, Path],
) -> None:
    job = Job("abort", str(files[0]), str(files[1]), SETTINGS)
    with loaded(job) as model:
        took_ms = abort_time_ms(model, clip(12, 1), 0.0)
        assert took_ms is not None
        assert took_ms >= 0
        assert abort_time_ms(model, clip(1, 2), 60.0) is None
        model.encode_ahead(clip(1, 3))  # the encoder works again
