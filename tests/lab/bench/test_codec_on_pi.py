"""The estimate for a codec's decoder on a Pi, against sums done by hand."""

from __future__ import annotations

import pytest

from lab.bench import codec_on_pi
from lab.bench.codec_on_pi import MEMORY_GB_S, PRODUCTS_G_S, CostPart, mimi


def test_products_and_weights_match_the_layers_of_mimi() -> None:
    parts = {part.name: part for part in mimi()}
    assert parts["transformer"].weights == pytest.approx(8 * (4 * 512**2 + 2 * 512 * 2048) / 1e6)
    first = parts["SEANet: first convolution"]
    assert (first.weights, first.products) == pytest.approx((3.670016, 7.340032))
    assert parts["SEANet: last convolution"].products == pytest.approx(1920 * 64 * 3 / 1e6)
    # 216 M counted in torch's modules, plus 4 M of attention.
    assert sum(part.products for part in mimi()) == pytest.approx(220, abs=1)
    # The decoder without norms, biases and codebooks: 39.9 M, plus a projection of 0.26 M.
    assert sum(part.weights for part in mimi()) == pytest.approx(40.15, abs=0.05)


def test_a_part_takes_the_maximum_or_the_sum_of_reading_and_computing() -> None:
    part = CostPart("x", products=60.0, weights=10.0, moved_mb=5.0)
    read = [(10 * 4 + 5) / rate for rate in MEMORY_GB_S]
    computed = [60 / rate for rate in PRODUCTS_G_S]
    assert part.ms(0, 1, int8=False) == pytest.approx(max(read[0], computed[0]))
    assert part.ms(1, 1, int8=False) == pytest.approx(read[1] + computed[1])
    assert part.ms(1, 2, int8=False) == pytest.approx(read[1] / 2 + computed[1])
    assert part.ms(1, 1, int8=True) == part.ms(1, 1, int8=False)  # this part stays in fp32


def test_eight_bits_and_two_frames_a_call_cost_less() -> None:
    for which in (0, 1):
        single, double, small = (
            sum(part.ms(which, frames, int8=int8) for part in mimi())
            for frames, int8 in ((1, False), (2, False), (1, True))
        )
        assert double < single
        assert small < single


def test_the_tables_have_a_row_for_every_part_and_include_the_head() -> None:
    by_part, sums = codec_on_pi.sheets()
    assert len(by_part.rows) == len(mimi()) + len(codec_on_pi.HEAD)
    assert [row[1] for row in sums.rows] == ["1", "2"] * 3
