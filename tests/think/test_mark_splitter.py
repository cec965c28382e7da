"""MarkSplitter cuts words within each mark and nowhere else."""

from __future__ import annotations

from appliance.think.mark_splitter import MarkSplitter


def test_words_without_marks_are_tokenized_in_one_piece() -> None:
    words = "five < six | seven > two, <b>bold</b>\n\n\n and\t  <|tool_cal l>"
    assert MarkSplitter(["<|tool_call>", "<turn|>"]).pieces(words) == [words]
    assert MarkSplitter([]).pieces("<turn|>") == ["<turn|>"]


def test_marks_that_overlap_are_all_cut() -> None:
    assert MarkSplitter(["<a><b>", "<b><c>"]).pieces("<a><b><c>") == ["<", "a><", "b><c>"]
    assert MarkSplitter(["aa"]).pieces("aaaa") == ["a", "a", "a", "a"]
