"""Words over the box, measured with the real processes for our box and the article."""

from __future__ import annotations

import pytest

from lab.bench import stop as bench_stop
from lab.bench.benches import BenchOptions
from lab.bench.harness import QUIET
from tests.english import ESPEAK

pytestmark = pytest.mark.process

BRIEFLY = BenchOptions(ESPEAK, events=1)


@pytest.mark.timeout(300)
def test_words_over_the_box_are_measured_for_our_box_and_the_article() -> None:
    # Without an echo nothing converges.
    events, dropouts = bench_stop.in_room(QUIET, BRIEFLY, None, converged_s=1.0)
    assert dropouts.keys() == {"capture", "playback"}
    assert {event["by"] for event in events} == {"ours", "article"}
    counted = [e for e in events if e["by"] == "ours" and not (e["left_out"] or e["missed"])]
    assert all(0 < e["last_ms"] < 1000 and e["decided_ms"] < e["last_ms"] for e in counted)
