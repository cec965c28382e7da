"""pipecat in the simulated room: it talks, stops at a word, and answers again."""

from __future__ import annotations

import pytest

from tests import skips
from tests.lab.peers.session import Session

pytestmark = pytest.mark.skipif(skips.lacks_peers(), reason=skips.PEERS)


@pytest.mark.process
@pytest.mark.timeout(600, method="signal")
def test_a_word_ends_its_answer_and_another_one_begins() -> None:
    session = Session("pipecat")
    assert session.dropped_ms is not None
    assert 50 < session.stopped_ms < 1000
    assert session.dropped_ms == session.stopped_ms
    assert session.talks_again


@pytest.mark.process
@pytest.mark.timeout(600, method="signal")
def test_a_word_alone_is_not_enough_if_three_are_wanted() -> None:
    session = Session("pipecat", min_words=3)
    assert session.device.yields == []
    assert session.device.talking
