"""`bench answer --weights` on tiny weights, through the same processes as at full size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench import answer_full, benches
from lab.bench.answer_full import bench
from lab.bench.benches import BenchError, BenchOptions
from tests.lab.bench.tiny_model import SETTINGS, TINY


def test_an_unknown_part_is_a_bench_error(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"no part `thsi`\. There are this, patch, .* and soak"):
        bench(BenchOptions(SETTINGS, weights=tmp_path, parts=("thsi",)), TINY)


@pytest.mark.process
@pytest.mark.timeout(300)
def test_recipes_are_compared_and_their_results_are_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The boxes run in real time: a question of a second in place of four, also where there are
    # recordings, and less of each answer.
    monkeypatch.setattr(benches, "RECORDINGS", tmp_path / "nowhere")
    monkeypatch.setattr(answer_full, "QUESTIONS", ("What is a lake?",))
    monkeypatch.setattr(answer_full, "LISTEN_S", 0.2)
    options = BenchOptions(SETTINGS, events=1, weights=tmp_path, parts=("this", "article"))
    beside, this, article, goals = bench(options, TINY)
    assert list(beside.columns) == ["ms, p50", "this", "article"]
    assert list(beside.rows[-1]) == ["n", 1, 1]
    assert beside.events[0]["said"], beside.events
    assert article.rows[0][-1] == this.rows[0][-1] == 1
    assert any("beside the article" in str(row[0]) for row in goals.rows)
    read = {event["recipe"]: event["read"] for event in beside.events}
    assert read["article"] > 10 * read["this"]  # the whole prompt
    lines = (tmp_path / "answer-events.jsonl").read_text()
    again = bench(replace(options, parts=("this",)), TINY)
    assert list(again[0].rows[-1]) == ["n", 1]
    assert (tmp_path / "answer-events.jsonl").read_text() == lines  # no question was repeated
