"""Makes appliance/dialog/table.md: the handler of each message in each state, and what handlers
change of the state's parts."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable

from appliance.dialog import state_machine
from appliance.dialog.state import DialogState
from appliance.dialog.table import EVERYWHERE, OVERDUE, STATES, TABLE
from scripts.dialog_calls import FOLDER, Functions, all_changes, read
from scripts.dialog_parts import PARTS, Operation, StatePart

PAGE = FOLDER / "table.md"
HEAD = """\
# Who has the floor

The dialogue's state machine, made by `python -m scripts.reference`: first the handler of each
message in each state, then the parts of the state, each in a file of this folder, and what changes
them.

## Messages and states

An empty cell: the message has no effect. The handlers are in `on_*.py` in this folder."""
PARTS_HEAD = """\
## The parts of the state

Each part has phases of its own. A cell is the phase after the operation; `·`: the same phase;
empty: no handler applies the operation in that phase. *By* names the functions of `on_*.py`,
`transition.py` and `state_machine.py` that apply it."""
CHANGES_HEAD = """\
## What a handler may change

`×`: the handler, or a function that it calls, may change that part."""

Handler = Callable[..., None]
FIELDS = tuple(one.name for one in dataclasses.fields(DialogState) if one.name != "policy")


def page() -> str:
    """The page in Markdown."""
    functions = read()
    lines = [HEAD, "", *_states(), "", *_everywhere(), "", *_meanings(), "", PARTS_HEAD]
    for part in PARTS:
        lines += ["", *_part(part, functions)]
    lines += ["", CHANGES_HEAD, "", *_changes(functions)]
    return "\n".join(lines) + "\n"


def handlers() -> list[Handler]:
    """All handlers of the tables, with those for an expired state, in alphabetical order."""
    named: set[Handler] = {handler for row in TABLE.values() for handler in row.values()}
    named |= {*EVERYWHERE.values(), *OVERDUE.values()}
    return sorted(named, key=lambda handler: handler.__name__)


def _states() -> list[str]:
    lines = _head("message", *STATES)
    for message, row in TABLE.items():
        lines.append(_row(message.__name__, *(_name(row.get(state)) for state in STATES)))
    return [*lines, _row("*time is up*", *(_name(OVERDUE.get(state)) for state in STATES))]


def _everywhere() -> list[str]:
    rows = [_row(message.__name__, _name(handler)) for message, handler in EVERYWHERE.items()]
    return [*_head("in every state", "handler"), *rows]


def _meanings() -> list[str]:
    return [f"- **{_name(one)}**: {' '.join((one.__doc__ or '').split())}" for one in handlers()]


def _part(part: StatePart, functions: Functions) -> list[str]:
    """The section of a part: its docstring, its invariant, and the table of its operations."""
    file = inspect.getfile(part.kind).rpartition("/")[2]
    head = f"### {part.field}: [`{part.kind.__name__}`]({file})"
    text = (inspect.getdoc(part.kind) or "").split("\n\n")[0].replace("\n", " ")
    consistent = inspect.getattr_static(part.kind, "consistent", None)
    if isinstance(consistent, property):
        text += f" Invariant: {' '.join((consistent.__doc__ or '').split())}"
    rows = [
        _row(_label(one), *(_cell(part, phase, one) for phase in part.phases),
             ", ".join(appliers(functions, part.field, one.name)))
        for one in part.operations
    ]  # fmt: skip
    if putters := appliers(functions, part.field, ""):
        text += f" Assigned by: {', '.join(putters)}."
    return [head, "", text, "", *_head("operation", *part.phases, "by"), *rows]


def appliers(functions: Functions, field: str, operation: str) -> list[str]:
    """The functions that apply an operation to a part directly; `operation` "": that assign a
    value."""
    return sorted(name for (_, name), one in functions.items() if (field, operation) in one.changes)


def _label(operation: Operation) -> str:
    return f"{operation.name} ({operation.case})" if operation.case else operation.name


def _cell(part: StatePart, phase: str, operation: Operation) -> str:
    after = part.after(phase, operation)
    return "·" if after == phase else after


def _changes(functions: Functions) -> list[str]:
    lines = _head("handler", *FIELDS)
    tick = (state_machine.__name__.rpartition(".")[2], "_tick")
    starts = [(handler.__module__.rpartition(".")[2], handler.__name__) for handler in handlers()]
    for start in [*starts, tick]:
        changed = {field for field, _ in all_changes(functions, start)}
        label = "*a Tick*" if start == tick else start[1]
        lines.append(_row(label, *("×" if field in changed else "" for field in FIELDS)))
    return lines


def _name(handler: Handler | None) -> str:
    return handler.__name__ if handler else ""


def _head(*cells: str) -> list[str]:
    return [_row(*cells), _row(*(["---"] * len(cells)))]


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
