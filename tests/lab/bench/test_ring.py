"""A short run of the latency bench through ring, socket and queue."""

from __future__ import annotations

import pytest

from appliance.settings import load_defaults
from lab.bench.benches import BenchOptions
from lab.bench.ring import bench

EVENTS = 10


@pytest.mark.process
def test_every_slot_is_timed_through_the_ring_the_socket_and_the_queue() -> None:
    (sheet,) = bench(BenchOptions(load_defaults(), events=EVENTS))
    assert [row[0] for row in sheet.rows] == ["ring", "Unix socket", "multiprocessing.Queue"]
    for event in sheet.events:
        assert len(event["us"]) == EVENTS
        assert all(0 < us < 5e6 for us in event["us"])
