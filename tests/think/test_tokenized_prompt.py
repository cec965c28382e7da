"""A prompt of runs: the part after a position, the part before it, the common prefix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from appliance.think.context import Rows
from appliance.think.tokenized_prompt import PromptRun, TokenizedPrompt

WIDTH = 2


def rows(*ids: int) -> Rows:
    """Sound rows whose first column is the id."""
    return np.array([[number, 0] for number in ids], np.float32).reshape(len(ids), WIDTH)


def ids_of(runs: object) -> list[int]:
    found: list[int] = []
    for run in runs:  # type: ignore[attr-defined]  # of either kind
        found += [int(row[0]) for row in run] if isinstance(run, np.ndarray) else list(run)
    return found


def prompt(*runs: PromptRun) -> TokenizedPrompt:
    return TokenizedPrompt(tuple(runs), np.array(ids_of(runs), np.int64))


MIXED = prompt((1, 2, 3), rows(4, 5), (6,))


def test_after_and_until_cut_within_words_and_within_sound() -> None:
    assert [ids_of([run]) for run in MIXED.after(2)] == [[3], [4, 5], [6]]
    assert [ids_of([run]) for run in MIXED.after(4)] == [[5], [6]]
    assert list(MIXED.after(6)) == []
    assert ids_of(MIXED.until(4).runs) == MIXED.until(4).ids.tolist() == [1, 2, 3, 4]
    assert len(MIXED.until(0)) == 0


def test_common_counts_the_equal_ids_from_the_start() -> None:
    assert MIXED.common(np.array([1, 2, 9, 4])) == 2
    assert MIXED.common(np.array([1, 2])) == 2
    assert MIXED.common(np.array([1, 2, 3, 4, 5, 6, 7])) == 6
    assert MIXED.common(np.empty(0, np.int64)) == 0


RUNS = st.lists(
    st.lists(st.integers(1, 99), min_size=1, max_size=4).flatmap(
        lambda ids: st.sampled_from((tuple(ids), rows(*ids)))
    ),
    max_size=6,
)


@given(RUNS, st.integers(0, 30))
def test_until_and_after_a_position_together_are_the_whole(runs: list[PromptRun], at: int) -> None:
    whole = prompt(*runs)
    place = min(at, len(whole))
    before = whole.until(place)
    assert len(before) == place
    assert ids_of(before.runs) + ids_of(whole.after(place)) == whole.ids.tolist()
    assert whole.common(before.ids) == place
