"""The page about failing parts matches the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.runtime import process_table
from appliance.runtime.supervision import (
    backoff,
    failure_rate,
    process_limits,
    starvation,
    supervised_part,
)
from appliance.runtime.supervisor import SWITCH_LATE_S
from system.usr.lib.interlude import ended

PAGE = " ".join((Path(__file__).parents[3] / "docs/staying-up.md").read_text().split())


@pytest.mark.parametrize(
    "sentence",
    [
        f"after {backoff.FIRST_S:g}, {2 * backoff.FIRST_S:g}, 1, 2, 4 s",
        f"grows to {backoff.LONGEST_NEEDED_S:g} s for a process that the box needs",
        f"to {backoff.LONGEST_S:g} s for another",
        f"it has ended {backoff.FAILED_AT} times in a row",
        f"cannot be killed within {supervised_part.STUCK_S:g} s",
        f"ends {failure_rate.ENDS} times within {failure_rate.WITHIN_S / 60:g} min",
        f"ends with exit code {failure_rate.EXIT_CODE}",
        f"badly {ended.MOST} times within {ended.WINDOW_S / 60:g} min",
        f"its row's budget and {process_limits.UNTOUCHED_MIB} MiB",
        f"has not beaten for {SWITCH_LATE_S:g} s",
        f"up to {starvation.DISK_S:g} s in the kernel",
        f"After {starvation.CALM_S:g} s without a sign",
        f"({min(row.silent_s for row in process_table.PROCESSES):g} to "
        f"{max(row.silent_s for row in process_table.PROCESSES):g} s)",
        "Needed are {}, {}, {} and {}.".format(
            *(row.name for row in process_table.PROCESSES if row.needed)
        ),
    ],
)
def test_the_page_states_the_numbers_of_the_code(sentence: str) -> None:
    assert sentence in PAGE


def test_the_page_states_the_number_of_processes() -> None:
    assert len(process_table.PROCESSES) == 10
    assert "ten processes" in PAGE
