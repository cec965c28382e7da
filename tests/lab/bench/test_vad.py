"""The cost of hearing, per frame and per step."""

from __future__ import annotations

from appliance.settings import load_defaults
from lab.bench import vad as bench_vad
from lab.bench.benches import BenchOptions


def test_hearing_is_timed_by_frame_and_by_step() -> None:
    network, hearing = bench_vad.bench(BenchOptions(load_defaults(), events=100))
    assert network.rows[0][5] == 100
    assert [row[0] for row in hearing.rows] == ["the box is silent", "it speaks"]
