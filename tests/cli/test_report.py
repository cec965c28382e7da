"""A report as text for the owner, and as JSON for a program."""

from __future__ import annotations

import json

from appliance.cli.report import format_report

FOUND = {
    "version": "1.2.3", "last_warning": None, "failed": [], "installed": ["1.2.3", "1.2.2"],
    "problem": "", "well": False, "up_s": 0,
}  # fmt: skip


def test_the_text_has_one_line_per_value_and_a_dash_for_unknown_ones() -> None:
    assert format_report(FOUND, as_json=False).split("\n") == [
        "version        1.2.3",
        "last warning   –",
        "failed         –",
        "installed      1.2.3, 1.2.2",
        "problem        –",
        "well           False",
        "up s           0",
    ]


def test_the_json_has_every_value_unchanged() -> None:
    assert json.loads(format_report(FOUND, as_json=True)) == FOUND
