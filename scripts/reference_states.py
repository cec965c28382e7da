"""appliance/dialog/table.md: what each message does to the conversation in each of its states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from appliance.dialog.table import EVERYWHERE, OVERDUE, STATES, TABLE

PAGE = Path(__file__).resolve().parent.parent / "appliance/dialog/table.md"
HEAD = """\
What each message does in each state; an empty cell does nothing. Made by `python -m
scripts.reference` from [`table.py`](table.py). The handlers lie beside it, in `on_*.py`."""


def page() -> str:
    """The three tables, and what each handler does."""
    lines = ["# Who has the floor", "", HEAD, ""]
    lines += [_row(["message", *STATES]), _row(["---"] * (1 + len(STATES)))]
    for message, row in TABLE.items():
        lines.append(_row([message.__name__, *(_name(row.get(state)) for state in STATES)]))
    lines.append(_row(["*time is up*", *(_name(OVERDUE.get(state)) for state in STATES)]))
    lines += ["", _row(["in every state", "handler"]), _row(["---"] * 2)]
    lines += [_row([message.__name__, _name(move)]) for message, move in EVERYWHERE.items()]
    moves: set[Callable[..., None]] = {move for row in TABLE.values() for move in row.values()}
    moves |= set(EVERYWHERE.values())
    moves |= set(OVERDUE.values())
    lines += [
        "",
        *sorted(f"- **{_name(m)}**: {' '.join((m.__doc__ or '').split())}" for m in moves),
    ]
    return "\n".join(lines) + "\n"


def _name(move: Callable[..., None] | None) -> str:
    return move.__name__ if move else ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
