"""Each bench once, as briefly as it goes: it measures what it says, with the real processes."""

from __future__ import annotations

import pytest

from appliance.errors import ModelError
from appliance.messages.commands import Say, StopSpeaking
from appliance.settings import load_defaults
from lab.bench import answer as bench_answer
from lab.bench import seam as bench_seam
from lab.bench import stop as bench_stop
from lab.bench import vad as bench_vad
from lab.bench.benches import BenchOptions
from lab.bench.harness import QUIET, TALK, BenchHarness, from_sentence
from lab.sim.rehearsal_cli import load_over

pytestmark = pytest.mark.process

BRIEFLY = BenchOptions(load_defaults(), events=1)


@pytest.mark.timeout(120)
def test_words_over_the_box_are_measured_for_both() -> None:
    events, dropouts = bench_stop.in_room(QUIET, BRIEFLY, None)
    assert dropouts.keys() == {"capture", "playback"}
    assert {event["by"] for event in events} == {"ours", "article"}
    counted = [e for e in events if e["by"] == "ours" and not (e["left_out"] or e["missed"])]
    assert all(0 < e["last_ms"] < 1000 and e["decided_ms"] < e["last_ms"] for e in counted)


@pytest.mark.timeout(120)
def test_what_the_box_says_besides_its_talk_is_not_measured() -> None:
    """Without a thinker it excuses itself after each interruption."""

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

    BenchHarness(QUIET, load_defaults(), act).play()


def test_its_talk_begins_with_another_sentence_each_time_and_is_whole() -> None:
    assert from_sentence(0) == TALK
    assert from_sentence(1).startswith("It goes around us once a month")
    assert from_sentence(1).endswith("four thousand million years.")
    assert {len(from_sentence(n)) for n in range(20)} == {len(TALK)}


@pytest.mark.timeout(120)
def test_a_pause_that_is_taken_back_loses_and_repeats_nothing() -> None:
    (sheet,) = bench_seam.bench(BRIEFLY)
    assert sheet.rows[0][1:3] == (0, 0)


def test_hearing_is_timed_by_frame_and_by_step() -> None:
    network, hearing = bench_vad.bench(BenchOptions(load_defaults(), events=100))
    assert network.rows[0][5] == 100
    assert [row[0] for row in hearing.rows] == ["the box is silent", "it speaks"]


def test_an_answer_without_its_model_is_one_sentence() -> None:
    missing = load_over(load_defaults(), {"thinking": {"model": "nobodys"}})
    with pytest.raises(ModelError, match="There is no model `nobodys`"):
        bench_answer.bench(BenchOptions(missing))
