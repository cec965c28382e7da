"""The goals of `bench answer` next to the measured values."""

from __future__ import annotations

from typing import Any

from lab.bench.answer_goals import clause_ahead, goals
from lab.bench.answer_tables import ENOUGH, comparison, recipe_table, soak_table

EVENT: dict[str, Any] = {
    "asked": "", "all_ms": 1500.0, "turn_end_ms": 400.0, "waited_ms": 100.0, "encode_ms": 0.0,
    "prefill_ms": 100.0, "first_sentence_ms": 800.0, "synthesis_ms": 50.0, "rest_ms": 50.0,
    "from_decision_ms": 1100.0, "cut_off": False, "drawn_ahead": 0, "thrown_away": 2, "tokens": 20,
    "read": 3, "tokens_per_s": 5.0, "resident_mib": 2500.0, "said": ["It rains all day,", "so."],
}  # fmt: skip


def test_the_goal_is_half_a_second_plus_the_time_of_the_first_clauses_tokens() -> None:
    rows = goals({"this": [EVENT] * 3, "article": [EVENT | {"all_ms": 9000.0}] * 2}).rows
    assert [list(row[1:]) for row in rows] == [
        [500 + 5 * 200, 1500, 3],
        [500, 500, 3],
        [0.25, round(1500 / 9000, 2), 2],
        [400, "–", 0],
        [3584, 2500, 3],
    ]
    assert not goals({"article": [EVENT]}).rows


def test_a_clause_counts_as_drawn_ahead_if_all_its_tokens_were() -> None:
    assert not clause_ahead(EVENT | {"drawn_ahead": 4})
    assert clause_ahead(EVENT | {"drawn_ahead": 5})
    assert not clause_ahead(EVENT | {"said": []})


def test_cut_off_and_unanswered_questions_are_noted_and_excluded_from_the_figures() -> None:
    odd = [EVENT | {"cut_off": True, "all_ms": 1.0}, {"asked": "", "all_ms": None}]
    sheet = comparison({"this": [EVENT, *odd]})
    assert list(sheet.rows[0]) == ["last sample → first sound", 1500]
    assert ("n", 1) in sheet.rows
    assert "1 questions cut off" in sheet.notes[0]
    assert "1 without an answer" in sheet.notes[0]
    assert recipe_table("this", [EVENT, *odd]).rows[0][-1] == 1


def test_a_percentile_is_shown_only_for_enough_values() -> None:
    few, many = (comparison({"this": [EVENT] * count}).rows[1] for count in (ENOUGH - 1, ENOUGH))
    assert few == ("the same, p95", "–")
    assert many == ("the same, p95", 1500)


def test_a_long_run_reports_its_dropouts() -> None:
    sheet = soak_table([EVENT, {"asked": "", "all_ms": None}], 90.0, {"capture": 0, "playback": 2},
                   1, [(5, 7_000_000), (9, 21_300_000)], 2666.7)  # fmt: skip
    assert ("minutes", 1.5) in sheet.rows
    assert ("of these answered", 1) in sheet.rows
    assert ("dropouts of playback", 2) in sheet.rows
    assert ("of these while the machine itself stood still", 1) in sheet.rows
    assert ("longest, ms", 21.3) in sheet.rows
    assert ("resident MiB at the end", 2667) in sheet.rows
