"""Findings of `interlude check`: what was checked, the result, and what to do about it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from appliance.errors import InterludeError, ShownAs

UNSHOWN = ShownAs("", {})
_MARK = {"ok": "[green]ok[/]", "warning": "[yellow]warning[/]", "problem": "[red]problem[/]"}


@dataclass(frozen=True)
class Finding:
    """One sentence with the result of a check and, unless it is "ok", one with the remedy.

    A `problem` keeps the box from working; a `warning` does not. `key`, `values`: result and remedy
    as one sentence of the catalogue for the page (errors.ShownAs); "": there is none.
    """

    looked_at: str
    verdict: Literal["ok", "warning", "problem"]
    sentence: str
    remedy: str = ""
    key: str = ""
    values: Mapping[str, str | int | float] = field(default_factory=dict)


def ok(looked_at: str, sentence: str, shown: ShownAs = UNSHOWN) -> Finding:
    return Finding(looked_at, "ok", sentence, "", shown.key, dict(shown.values))


def warning(looked_at: str, sentence: str, remedy: str, shown: ShownAs = UNSHOWN) -> Finding:
    return Finding(looked_at, "warning", sentence, remedy, shown.key, dict(shown.values))


def problem(looked_at: str, sentence: str, remedy: str, shown: ShownAs = UNSHOWN) -> Finding:
    return Finding(looked_at, "problem", sentence, remedy, shown.key, dict(shown.values))


def told_by(looked_at: str, part: Callable[[], str], shown: ShownAs = UNSHOWN) -> Finding:
    """The result of `part`, a check that returns a sentence; its InterludeError becomes a problem.
    `shown`: the sentence for the page."""
    try:
        return ok(looked_at, part(), shown)
    except InterludeError as error:
        return problem(looked_at, error.problem, error.remedy, error.on_page)


def exit_code(findings: Iterable[Finding]) -> int:
    """1 if there is a problem, else 0; warnings do not count."""
    return int(any(finding.verdict == "problem" for finding in findings))


def as_json(findings: Iterable[Finding]) -> str:
    return json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2)


def show(findings: list[Finding], console: Console) -> None:
    """Print a table, and a line with the number of problems and warnings."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for finding in findings:
        table.add_row(_MARK[finding.verdict], finding.looked_at, escape(finding.sentence))
        if finding.remedy:
            table.add_row("", "", f"[bold]→ {escape(finding.remedy)}[/]")
    console.print(table)
    problems = sum(finding.verdict == "problem" for finding in findings)
    warnings = sum(finding.verdict == "warning" for finding in findings)
    known = f"{warnings} to know of." if warnings else "all is well."
    if problems:
        counted = "1 problem" if problems == 1 else f"{problems} problems"
        console.print(f"\n{counted} to fix before the box works, {known}")
    else:
        console.print(f"\nNothing keeps the box from working; {known}")
