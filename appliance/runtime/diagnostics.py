"""Findings of `interlude check`: what was looked at, how it is, and what to do about it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from appliance.errors import InterludeError

_MARK = {"ok": "[green]ok[/]", "warning": "[yellow]warning[/]", "problem": "[red]problem[/]"}


@dataclass(frozen=True)
class Finding:
    """One sentence of how something is and, unless all is well, one of what to do.

    A `problem` keeps the box from working; a `warning` is for the owner to weigh.
    """

    looked_at: str
    verdict: Literal["ok", "warning", "problem"]
    sentence: str
    remedy: str = ""


def ok(looked_at: str, sentence: str) -> Finding:
    return Finding(looked_at, "ok", sentence)


def warning(looked_at: str, sentence: str, remedy: str) -> Finding:
    return Finding(looked_at, "warning", sentence, remedy)


def problem(looked_at: str, sentence: str, remedy: str) -> Finding:
    return Finding(looked_at, "problem", sentence, remedy)


def told_by(looked_at: str, part: Callable[[], str]) -> Finding:
    """What a part of the box says of itself; the error that it raises is a problem."""
    try:
        return ok(looked_at, part())
    except InterludeError as error:
        return problem(looked_at, error.problem, error.remedy)


def exit_code(findings: Iterable[Finding]) -> int:
    """0 when nothing keeps the box from working, warnings or not; else 1."""
    return int(any(finding.verdict == "problem" for finding in findings))


def as_json(findings: Iterable[Finding]) -> str:
    return json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2)


def show(findings: list[Finding], console: Console) -> None:
    """A table for a terminal, and one line that sums it up."""
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
