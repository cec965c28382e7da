"""Makes docs/reference/tree.md: every module with the first sentence of its docstring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/tree.md"
PACKAGES = ("appliance", "lab", "image", "training")
# A module begins with its docstring; to parse the whole module takes forty times as long.
DOCSTRING = re.compile(r'(?:#.*\n)*"""(.*?)"""', re.DOTALL)
HEAD = """# The tree

Every module with the first sentence of its docstring, made by `python -m scripts.reference`.
"""


def summary(path: Path) -> str:
    """The first sentence of a module's docstring, on one line; "" without a docstring."""
    found = DOCSTRING.match(path.read_text(encoding="utf-8"))
    return first_sentence(found[1] if found else "").replace("|", "\\|")


def first_sentence(docstring: str) -> str:
    """The first sentence of a docstring, on one line; "" if it is empty."""
    line = " ".join(docstring.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=[a-z`\"')\]]\.) (?=[A-Z`])", line)[0]


def tables(package: Path) -> Iterator[str]:
    """A section for each folder of a package that has modules, in alphabetical order."""
    folders = [package, *sorted(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
        if not modules or "test" in folder.relative_to(package).parts:
            continue
        yield f"\n## {folder.relative_to(ROOT)}/\n"
        if (folder / "__init__.py").exists() and (text := summary(folder / "__init__.py")):
            yield f"{text}\n"
        yield "| module | |"
        yield "|---|---|"
        for path in modules:
            yield f"| [`{path.name}`](../../{path.relative_to(ROOT)}) | {summary(path)} |"


def page() -> str:
    """The page in Markdown."""
    lines = [line for name in PACKAGES for line in tables(ROOT / name)]
    return HEAD + "\n".join(lines) + "\n"
