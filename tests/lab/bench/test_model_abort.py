"""An encoding that is ended from another thread: when the order is given, and how long it took."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from lab.bench.model_abort import EARLIEST, LATEST, abort_shares, abort_time_ms, abort_times_ms
from lab.bench.model_parts import Job, clip, loaded
from tests.lab.bench.tiny_model import SETTINGS


# ── an encoding that is ended ────────────────────────────────────────────────────────────────
def test_orders_are_given_all_over_the_encoding() -> None:
    given = sorted(abort_shares(60))
    assert EARLIEST <= given[0] < 0.1
    assert 0.8 < given[-1] <= LATEST
    assert max(np.diff(given)) < 0.05


def test_an_order_that_came_too_late_is_given_again_by_the_time_that_it_took(
    files: tuple[Path, Path],
) -> None:
    """As if the machine had been busy at first: a whole encoding is said to take a minute."""
    job = Job("abort", str(files[0]), str(files[1]), SETTINGS)
    numbers = itertools.count(1)
    with loaded(job) as model:
        took = list(abort_times_ms(model, lambda: clip(12, next(numbers)), lambda: 60.0, 4))
    assert len(took) == 4
    assert next(numbers) - 1 >= 5  # the first was over before its order


def test_the_time_is_from_the_order_and_none_is_told_of_an_encoding_that_was_over(
    files: tuple[Path, Path],
) -> None:
    job = Job("abort", str(files[0]), str(files[1]), SETTINGS)
    with loaded(job) as model:
        took_ms = abort_time_ms(model, clip(12, 1), 0.0)
        assert took_ms is not None
        assert took_ms >= 0
        assert abort_time_ms(model, clip(1, 2), 60.0) is None
        model.encode_ahead(clip(1, 3))  # it works again
