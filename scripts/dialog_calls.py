"""Finds which functions of the state machine change which part of the state, from the sources.

A part changes only in a call `change(part=…)`, by an operation of that part or by assigning another
value. A handler may change whatever it and the functions that it calls change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "appliance/dialog"
SOURCES = ("transition", "state_machine", *sorted(path.stem for path in FOLDER.glob("on_*.py")))
TRANSITIONS = {"self", "transition"}  # names of variables that hold a Transition


@dataclass
class Function:
    """The changes and calls in a function's own body.

    `changes`: (field, operation); operation "": another value is assigned. `calls`: the functions
    that it names, as (module, name).
    """

    changes: set[tuple[str, str]] = field(default_factory=set)
    calls: set[tuple[str, str]] = field(default_factory=set)


Functions = dict[tuple[str, str], Function]


def read() -> Functions:
    """All functions of the state machine, by module and name."""
    trees = {name: ast.parse((FOLDER / f"{name}.py").read_text("utf-8")) for name in SOURCES}
    return {
        (module, name): _function(node, module, _names(tree))
        for module, tree in trees.items()
        for name, node in _definitions(tree)
    }


def all_changes(functions: Functions, start: tuple[str, str]) -> set[tuple[str, str]]:
    """The changes of a function and of all functions that it calls, directly or not."""
    seen: set[tuple[str, str]] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in seen and name in functions:
            seen.add(name)
            waiting += functions[name].calls
    return {change for name in seen for change in functions[name].changes}


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Functions, methods, and tables; naming a table counts as a call of each function in it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((one.name, one) for one in node.body if isinstance(one, ast.FunctionDef))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _names(tree: ast.Module) -> dict[str, str]:
    """The module of each imported name."""
    return {
        alias.name: node.module.rpartition(".")[2]
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _function(definition: ast.AST, module: str, imported: dict[str, str]) -> Function:
    function = Function()
    for node in ast.walk(definition):
        if isinstance(node, ast.Name):
            function.calls.add((imported.get(node.id, module), node.id))
        if isinstance(node, ast.Attribute) and _is_transition(node.value):
            function.calls.add(("transition", node.attr))
        if isinstance(node, ast.Call) and _method(node) == "change":
            for keyword in node.keywords:
                if keyword.arg:
                    function.changes |= {(keyword.arg, one) for one in _operations(keyword.value)}
    return function


def _operations(value: ast.expr) -> set[str]:
    """The operations in `part.first().second()`; {""} for any other expression."""
    operations = set[str]()
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        operations.add(value.func.attr)
        value = value.func.value
    return operations or {""}


def _is_transition(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in TRANSITIONS


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
