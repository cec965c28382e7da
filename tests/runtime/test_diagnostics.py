"""Findings as a table, as JSON and as an exit code."""

from __future__ import annotations

import io
import json

from rich.console import Console

from appliance.errors import LinkError, ShownAs
from appliance.runtime import diagnostics
from appliance.runtime.diagnostics import Finding


def shown(found: list[Finding]) -> str:
    terminal = io.StringIO()
    diagnostics.show(found, Console(file=terminal, width=100))
    return terminal.getvalue()


def test_the_table_shows_a_remedy_below_its_problem() -> None:
    text = shown(
        [diagnostics.ok("disk", "Room."), diagnostics.problem("voice", "None.", "Get one.")]
    )
    assert text.index("None.") < text.index("→ Get one.")
    assert "1 problem to fix" in text


def test_names_in_brackets_are_shown_literally() -> None:
    assert "hw:[bold]" in shown([diagnostics.ok("card", "hw:[bold]")])


def test_warnings_alone_do_not_fail() -> None:
    assert diagnostics.exit_code([diagnostics.warning("a", "b", "c")]) == 0
    assert (
        diagnostics.exit_code([diagnostics.ok("a", "b"), diagnostics.problem("a", "b", "c")]) == 1
    )


def test_json_has_every_field() -> None:
    shown = ShownAs.of("page-find-hot", degrees=81)
    (finding,) = json.loads(diagnostics.as_json([diagnostics.problem("a", "b", "c", shown)]))
    assert finding == {
        "looked_at": "a", "verdict": "problem", "sentence": "b", "remedy": "c",
        "key": "page-find-hot", "values": {"degrees": 81},
    }  # fmt: skip


def test_a_parts_own_finding_has_the_text_of_the_page_or_of_its_error() -> None:
    shown = ShownAs.of("page-find-house")
    assert diagnostics.told_by("house", lambda: "It is here.", shown).key == "page-find-house"

    def fails() -> str:
        raise LinkError("It is away.")

    assert diagnostics.told_by("house", fails, shown).key == "page-wrong-general-broker"
