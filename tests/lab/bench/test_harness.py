"""The harness for benches: the box talks and restarts on request; other speech does not count."""

from __future__ import annotations

import pytest

from appliance.messages.commands import Say, StopSpeaking
from lab.bench.harness import QUIET, TALK, BenchHarness, from_sentence
from tests.english import ESPEAK


@pytest.mark.process
@pytest.mark.timeout(120)
def test_speech_other_than_the_bench_talk_is_not_measured() -> None:
    """Without a thinker the box apologises after each interruption."""

    def act(stage: BenchHarness) -> None:
        stage.start_talking()
        assert stage.talking()
        began = stage.started_at
        stage.send(StopSpeaking())
        stage.send(Say("I'm getting my thoughts together. Ask me again in a moment."))
        assert stage.wait_until(lambda: stage.started_at != began, 10.0)
        assert stage.wait_until(
            lambda: stage.state is not None and stage.state.state == "speaking", 9.0
        )
        assert not stage.talking()
        stage.start_talking()
        assert stage.talking()

    BenchHarness(QUIET, ESPEAK, act).play()


def test_the_talk_begins_with_another_sentence_each_time_and_is_complete() -> None:
    assert from_sentence(0) == TALK
    assert from_sentence(1).startswith("It goes around us once a month")
    assert from_sentence(1).endswith("four thousand million years.")
    assert {len(from_sentence(n)) for n in range(20)} == {len(TALK)}
