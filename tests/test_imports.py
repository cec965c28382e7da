"""The pattern finds the import statements that Python's parser finds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.imports import statements

SOURCE = """
from __future__ import annotations
import os, sys  # a comment
from a.b import (  # several
    c,
    d as e,
)
if x:
    import f.g as h; y = 1
def load():
    from . import i
    return important, from_import
"""


def test_every_kind_of_import_is_found_and_nothing_else(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(SOURCE)
    parsed = [
        ast.unparse(node) for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]  # fmt: skip
    assert sorted(map(ast.unparse, statements(source))) == sorted(parsed)
    assert len(parsed) == 5


@pytest.mark.parametrize("name", ["runtime/worker.py", "think/factory.py", "page/page.py"])
def test_in_the_product_the_parser_finds_no_other(name: str) -> None:
    path = Path(__file__).parents[1] / "appliance" / name
    found = {ast.unparse(node) for node in statements(path)}
    parsed = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    assert found == {
        ast.unparse(node) for node in parsed if isinstance(node, ast.Import | ast.ImportFrom)
    }
