"""The table of the cost of each process."""

from __future__ import annotations

from appliance.runtime.process_table import row
from lab.bench.cost import sheet
from lab.bench.harness import WITHOUT_THINKER


def test_each_process_is_listed_with_its_budget_and_the_audio_processes_with_15_percent() -> None:
    shares = {state: dict.fromkeys(WITHOUT_THINKER, 2.0) for state in ("idle", "speaking")}
    table = sheet(shares, dict.fromkeys(WITHOUT_THINKER, 50.0), {"capture": 0, "playback": 3}, 15)
    listener = next(line for line in table.rows if line[0] == "listener")
    budget = row("listener")
    assert listener[1:] == (2.0, 2.0, 100 * budget.cpu_share, 50, budget.memory_mib)
    assert table.rows[-1][:4] == ("capture + playback + listener", 6.0, 6.0, 15)
    assert "3 of playback" in table.notes[0]
