"""Finds in a test file what replaces an attribute of our modules, classes or shared objects.

Such a test tests something other than the product, and what it leaves outlives it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.isolation import OURS

FOREIGN = {("appliance.think.llama_library", "llama")}  # a binding that one module imports for all
_REPLACES = re.compile(
    r"\.(?:set|del)(?:attr|item)\(|\bpatch[.(]|^\s*del |^\s*\w+[.[].* [-+|&*/]?= ", re.MULTILINE
)
_CALLS = frozenset({"setattr", "setitem", "delattr", "delitem", "patch", "object", "dict"})


def patches(text: str) -> list[str]:
    """`LINE: CODE` for each."""
    if not _REPLACES.search(text):
        return []
    tree = ast.parse(text)
    names = frozenset(_imported(tree))
    return [f"{node.lineno}: {ast.unparse(node)}" for node in _replacing(tree, names)]


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names that imports from our packages bind."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in filter(lambda alias: _is_ours(alias.name), node.names):
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
            for alias in node.names:
                if (node.module, alias.name) not in FOREIGN:
                    yield alias.asname or alias.name


def _replacing(node: ast.AST, names: frozenset[str]) -> Iterator[ast.stmt | ast.expr]:
    if isinstance(node, ast.FunctionDef | ast.Lambda):  # its own names hide the imported ones
        arguments = node.args
        hidden = {each.arg for each in (*arguments.args, *arguments.kwonlyargs)}
        hidden |= {
            each.id for each in ast.walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }  # fmt: skip
        names -= hidden
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _CALLS and node.args and _refers(node.args[0], names):
            yield node
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
        targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        if any(not isinstance(each, ast.Name) and _refers(each, names) for each in targets):
            yield node
    for child in ast.iter_child_nodes(node):
        yield from _replacing(child, names)


def _refers(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is one of `names`, a part of one, or the path of something of ours."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _is_ours(node.value)
    return isinstance(node, ast.Name) and node.id in names


def _is_ours(path: str) -> bool:
    return path.partition(".")[0] in OURS
