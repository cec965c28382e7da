"""Who may import whom: docs/architecture/layers.md is the table, and the sources keep to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

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
    """The modules that a file imports, wherever in it; those of ours by their whole names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in FILES else node.module


@cache
def graph() -> dict[str, set[str]]:
    """What each module of `appliance/` imports."""
    return {name: {one for one in imported(path) if one != name} for name, path in FILES.items()}


def room(module: str) -> str:
    """The folder or file just below `appliance` in which a module lies."""
    return module.split(".")[1] if "." in module else ""


def test_every_folder_has_a_layer_and_every_layer_a_folder() -> None:
    assert {room(name) for name in FILES} - {""} == LAYER.keys()


@pytest.mark.parametrize("name", sorted(LAYER))
@pytest.mark.long
def test_a_folder_imports_only_what_lies_below_it(name: str) -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in graph().items()
        if room(module) == name
        for other in others
        if other in FILES and room(other) not in ("", name) and LAYER[room(other)] >= LAYER[name]
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    ours = {name: others & FILES.keys() - {"appliance"} for name, others in graph().items()}
    try:
        TopologicalSorter(ours).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_the_product_imports_nothing_that_is_not_on_the_box() -> None:
    beside = {"lab", "image", "training", "scripts", "tests"}
    assert not [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if other.split(".")[0] in beside
    ]


def test_a_circle_would_be_found() -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
