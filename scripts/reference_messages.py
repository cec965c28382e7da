"""Makes docs/reference/messages.md: every message between the processes, its route, its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from appliance.messages.routes import ROUTES
from scripts.tree import first_sentence, summary

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "appliance/messages"
HEAD = """# Messages

Every message that crosses a process border, made by `python -m scripts.reference` from `ROUTES` in
[`routes.py`](../../appliance/messages/routes.py) and the classes of `appliance/messages/`. Every
message goes to the conductor or comes from it. A type such as `LineText` is a row of
[`limits.py`](../../appliance/messages/limits.py). `ObservedMessage` is the copy of a message that
the conductor writes for the log and the lab.
"""


class MessageRow(NamedTuple):
    name: str
    summary: str  # first sentence of the docstring; "" without one
    fields: tuple[str, ...]  # "name: type = default"


def messages(path: Path) -> list[MessageRow]:
    """The messages that a file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        MessageRow(node.name, first_sentence(ast.get_docstring(node) or ""), tuple(_fields(node)))
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "BaseMessage" for base in node.bases)
    ]


def page() -> str:
    """The page in Markdown: the table of routes, then the fields by file."""
    lines = [HEAD, "## Routes", "", "| message | from | to | when | what it means |"]
    lines.append("|---|---|---|---|---|")
    lines += [
        f"| `{route.message.__name__}` | {', '.join(sorted(route.senders))} | "
        f"{', '.join(sorted(route.receivers))} | {route.when} | {route.means or 'passed on'} |"
        for route in ROUTES
    ]
    for path in sorted(FOLDER.glob("*.py")):
        rows = messages(path)
        if not rows:
            continue
        lines += ["", f"## {path.name}", "", f"[{summary(path)}]({_link(path)})", ""]
        lines += ["| message | | fields |", "|---|---|---|"]
        for row in rows:
            fields = "<br>".join(f"`{field}`" for field in row.fields)
            cells = (f"`{row.name}`", row.summary, fields)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _link(path: Path) -> str:
    return f"../../{path.relative_to(ROOT)}"


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            default = f" = {ast.unparse(part.value)}" if part.value is not None else ""
            yield f"{ast.unparse(part.target)}: {ast.unparse(part.annotation)}{default}"
