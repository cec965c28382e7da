"""livekit-agents in the simulated room: it pauses at a word, then resumes or answers again."""

from __future__ import annotations

import pytest

from tests import skips
from tests.lab.peers.session import Session

pytestmark = pytest.mark.skipif(skips.lacks_peers(), reason=skips.PEERS)


@pytest.mark.process
@pytest.mark.timeout(600, method="signal")
def test_a_word_pauses_and_then_ends_its_answer_and_another_one_begins() -> None:
    session = Session("livekit")
    assert session.dropped_ms is not None
    assert 100 < session.stopped_ms <= session.dropped_ms < 2000
    assert session.talks_again


@pytest.mark.process
@pytest.mark.timeout(600, method="signal")
def test_a_word_that_its_recogniser_does_not_write_down_is_resumed_from() -> None:
    session = Session("livekit", text="")
    assert session.device.yields == []
    assert 100 < session.stopped_ms < 2000
    assert session.resumed_ms is not None
    assert session.resumed_ms > session.stopped_ms + 1000
    assert session.device.talking
