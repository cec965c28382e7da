"""The seam of a resumed pause, measured with the real processes."""

from __future__ import annotations

import pytest

from lab.bench import seam as bench_seam
from lab.bench.benches import BenchOptions
from tests.english import ESPEAK

pytestmark = pytest.mark.process

BRIEFLY = BenchOptions(ESPEAK, events=1)


@pytest.mark.timeout(120)
def test_a_resumed_pause_loses_and_repeats_no_sample() -> None:
    (sheet,) = bench_seam.bench(BRIEFLY)
    assert sheet.rows[0][1:3] == (0, 0)
