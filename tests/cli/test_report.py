"""A report reads well for an owner, and as JSON for a program."""

from __future__ import annotations

import json

from appliance.cli.report import format_report

FOUND = {
    "version": "1.2.3", "last_warning": None, "failed": [], "installed": ["1.2.3", "1.2.2"],
    "problem": "", "well": False, "up_s": 0,
}  # fmt: skip


def test_an_owner_reads_a_line_for_each_and_a_dash_for_what_is_not_known() -> None:
    assert format_report(FOUND, as_json=False).split("\n") == [
        "version        1.2.3",
        "last warning   –",
        "failed         –",
        "installed      1.2.3, 1.2.2",
        "problem        –",
        "well           False",
        "up s           0",
    ]


def test_a_program_reads_all_of_it_as_it_is() -> None:
    assert json.loads(format_report(FOUND, as_json=True)) == FOUND
