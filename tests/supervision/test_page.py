"""The page about failing parts says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance import processes
from appliance.supervision import backoff, giving_up, limits, part, starving
from appliance.supervisor import SWITCH_LATE_S
from system.usr.lib.interlude import ended

PAGE = " ".join((Path(__file__).parents[2] / "docs/staying-up.md").read_text().split())


@pytest.mark.parametrize(
    "said",
    [
        f"after {backoff.FIRST_S:g}, {2 * backoff.FIRST_S:g}, 1, 2, 4 s",
        f"grows to {backoff.LONGEST_NEEDED_S:g} s for a process that the box needs",
        f"to {backoff.LONGEST_S:g} s for another",
        f"it has ended {backoff.FAILED_AT} times in a row",
        f"cannot be killed within {part.STUCK_S:g} s",
        f"ends {giving_up.ENDS} times within {giving_up.WITHIN_S / 60:g} min",
        f"ends with exit code {giving_up.EXIT_CODE}",
        f"badly {ended.MOST} times within {ended.WINDOW_S / 60:g} min",
        f"its row's budget and {limits.UNTOUCHED_MIB} MiB",
        f"has not beaten for {SWITCH_LATE_S:g} s",
        f"up to {starving.DISK_S:g} s in the kernel",
        f"After {starving.CALM_S:g} s without a sign",
        f"({min(row.silent_s for row in processes.PROCESSES):g} to "
        f"{max(row.silent_s for row in processes.PROCESSES):g} s)",
        "Needed are {}, {}, {} and {}.".format(
            *(row.name for row in processes.PROCESSES if row.needed)
        ),
    ],
)
def test_the_page_has_the_numbers_of_the_code(said: str) -> None:
    assert said in PAGE


def test_the_page_counts_the_processes() -> None:
    assert len(processes.PROCESSES) == 9
    assert "nine processes" in PAGE
