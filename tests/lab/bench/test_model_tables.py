"""The tables of `bench model`."""

from __future__ import annotations

from appliance.runtime.process_table import row
from lab.bench.model_parts import Measure
from lab.bench.model_tables import ENOUGH, WITHOUT_WEIGHTS, sheet


# ── tables ───────────────────────────────────────────────────────────────────────────────────
def test_few_values_are_listed_and_many_are_shown_as_percentiles() -> None:
    values = [float(value) for value in range(ENOUGH + 1)]
    table = sheet("recall", [Measure("x", "ms", values[:3]), Measure("y", "ms", values)])
    assert table.rows == [
        ("x", "ms", 3, "–", "–", "0, 1, 2"),
        ("y", "ms", ENOUGH + 1, "30", "57", "most 60"),
    ]


def test_memory_over_the_thinkers_budget_is_noted() -> None:
    budget = row("thinker").memory_mib
    for mib, verdict in ((budget - 1, "within"), (budget + 1, "OVER")):
        note = sheet("memory", [Measure("in use", WITHOUT_WEIGHTS, [1.0, mib])]).notes[0]
        assert f"{mib:.0f} MiB at most: {verdict} the thinker's budget" in note
