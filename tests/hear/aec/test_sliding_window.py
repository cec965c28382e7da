"""A window slides over a stream and shows its newest rows in order."""

from __future__ import annotations

import numpy as np

from appliance.hear.aec.sliding_window import SlidingWindow


def test_the_newest_rows_stay_in_order_when_the_memory_wraps() -> None:
    window = SlidingWindow(np.zeros(6, np.int64), spare=4)
    stream = np.arange(1, 41)
    for at in range(0, 40, 2):
        window.push(stream[at : at + 2])
        seen = stream[max(0, at - 4) : at + 2]
        assert window.rows.tolist() == [0] * (6 - len(seen)) + seen.tolist()


def test_rows_of_several_values_are_shifted_as_rows() -> None:
    window = SlidingWindow(np.zeros((2, 3)), spare=1)
    for value in range(5):
        window.push(np.full((1, 3), value))
    assert window.rows.tolist() == [[3.0] * 3, [4.0] * 3]
