"""The seam of a resumed pause, measured with the real processes."""

from __future__ import annotations

import pytest

from lab.bench import seam as bench_seam
from lab.bench.benches import BenchOptions
from tests.english import ESPEAK

pytestmark = pytest.mark.process

# The first sound of this seed is a knock, whose pause is taken back: its seam can be measured.
BRIEFLY = BenchOptions(ESPEAK, events=1, seed=2)


@pytest.mark.timeout(120)
def test_a_resumed_pause_loses_and_repeats_no_sample() -> None:
    (sheet,) = bench_seam.bench(BRIEFLY)
    assert sheet.rows[0][1:3] == (0, 0)
