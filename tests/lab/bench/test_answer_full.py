"""`bench answer --weights` on tiny weights, through the same processes as at full size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench.answer_full import bench
from lab.bench.benches import BenchError, BenchOptions, FigureTable
from tests.lab.bench.tiny_model import SETTINGS, TINY


def test_an_unknown_part_is_a_bench_error(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"no part `thsi`\. There are this, patch, .* and soak"):
        bench(BenchOptions(SETTINGS, weights=tmp_path, parts=("thsi",)), TINY)


@pytest.mark.process
@pytest.mark.timeout(300)
def test_recipes_are_compared_and_their_results_are_reused(tmp_path: Path) -> None:
    options = BenchOptions(
        SETTINGS, events=1, weights=tmp_path, parts=("this", "article"),
        default_recordings=tmp_path / "nowhere",
    )  # fmt: skip

    def briefly(options: BenchOptions) -> list[FigureTable]:
        """The boxes run in real time: a question of a second, and less of each answer."""
        return bench(options, TINY, texts=("What is a lake?",), listen_s=0.2)

    beside, this, article, goals = briefly(options)
    assert list(beside.columns) == ["ms, p50", "this", "article"]
    assert list(beside.rows[-1]) == ["n", 1, 1]
    assert beside.events[0]["said"], beside.events
    assert article.rows[0][-1] == this.rows[0][-1] == 1
    assert any("beside the article" in str(row[0]) for row in goals.rows)
    read = {event["recipe"]: event["read"] for event in beside.events}
    assert read["article"] > 10 * read["this"]  # the whole prompt
    lines = (tmp_path / "answer-events.jsonl").read_text()
    again = briefly(replace(options, parts=("this",)))
    assert list(again[0].rows[-1]) == ["n", 1]
    assert (tmp_path / "answer-events.jsonl").read_text() == lines  # no question was repeated
