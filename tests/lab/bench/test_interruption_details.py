"""The detailed tables: rooms, the article next to our box, the worst clips."""

from __future__ import annotations

from lab.bench import interruption_details as details
from lab.bench.interruption_findings import InterruptionFindings


def test_the_article_is_listed_next_to_our_box(found: InterruptionFindings) -> None:
    (sheet,) = details.article(found)
    rows = {(row[0], row[1]): row for row in sheet.rows}
    assert rows["quiet", "ours"][2] == "20.0"
    assert rows["quiet*", "article"][2] == "120"
    assert rows["quiet", "article"][-1] == "100.0"


def test_the_worst_clips_are_named_with_their_words(found: InterruptionFindings) -> None:
    sheets = details.worst(found, 1)
    assert [sheet.title for sheet in sheets] == [
        "Interruptions resumed: 1; the 1 worst", "Backchannels yielded to: 2; the 1 worst",
    ]  # fmt: skip
    assert sheets[0].rows[0][0] == "backchannel/anna_0"
    assert "backchannel 1 of 9" in sheets[0].notes[0]
    assert details.worst(found, 0) == []
