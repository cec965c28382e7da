"""The import rules in the table of docs/architecture/layers.md hold for the sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.imports import statements

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/architecture/layers.md").read_text(encoding="utf-8")
LAYER = {
    name: int(number)
    for number, names in re.findall(r"^\| (\d+) \| ([^|]+) \|", PAGE, re.MULTILINE)
    for name in re.findall(r"`(\w+)`", names)
}
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "appliance").rglob("*.py")
}


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere; modules of the product by their full names."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module and not node.level:
            for alias in node.names:
                full_name = f"{node.module}.{alias.name}"
                yield full_name if full_name in FILES else node.module


@cache
def graph() -> dict[str, set[str]]:
    """The imports of each module of `appliance/`."""
    return {
        name: {imported_name for imported_name in imported(path) if imported_name != name}
        for name, path in FILES.items()
    }


def top_level(module: str) -> str:
    """The folder or file directly below `appliance` that contains a module."""
    return module.split(".")[1] if "." in module else ""


def test_every_folder_has_a_layer_and_every_layer_a_folder() -> None:
    assert {top_level(name) for name in FILES} - {""} == LAYER.keys()


@pytest.mark.parametrize("name", sorted(LAYER))
def test_a_folder_imports_only_from_lower_layers(name: str) -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in graph().items()
        if top_level(module) == name
        for other in others
        if other in FILES
        and top_level(other) not in ("", name)
        and LAYER[top_level(other)] >= LAYER[name]
    ]
    assert wrong == []


def test_there_is_no_import_cycle() -> None:
    ours = {name: others & FILES.keys() - {"appliance"} for name, others in graph().items()}
    try:
        TopologicalSorter(ours).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_the_product_imports_nothing_from_outside_the_package() -> None:
    outside = {"lab", "image", "training", "scripts", "tests"}
    assert not [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if other.split(".")[0] in outside
    ]


def test_an_import_cycle_would_be_found() -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
