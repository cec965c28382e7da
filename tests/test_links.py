"""Every link, anchor and path in the pages exists, in the tree and on the site.

`make check` also runs mkdocs, for what only mkdocs finds (`make docs` builds in strict mode).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKIPPED = {".venv", ".make", "build", "dist", "rehearsal", "node_modules", ".git"}
PAGES = sorted(
    path for path in ROOT.rglob("*.md") if not SKIPPED & set(path.relative_to(ROOT).parts)
)
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)")
SOURCES = ("appliance", "image", "lab", "scripts", "system", "training", "voices", "ansible", "hw")
NAMED = re.compile(r"(?<![\w./])docs/[\w/-]+\.(?:md|yaml|png|svg)")


MODULE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.py)`")
MODULES = {path.name for folder in SOURCES for path in (ROOT / folder).rglob("*.py")} | {
    path.name for path in (ROOT / "tests").rglob("*.py")
}
HISTORY = {
    "CHANGELOG.md",
    "glossary.md",
}  # they name files of the past; test_glossary.py checks the glossary


def prose(text: str) -> str:
    """A page without its code blocks, which contain no links and headings."""
    return re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and mkdocs.yml generate them."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in plain}


def broken(page: Path, text: str) -> list[str]:
    """The links in a page's text whose file or heading does not exist."""
    found = []
    for link, anchor in LINK.findall(prose(text)):
        target = page.parent / link if link else page
        if not target.is_file():
            found.append(link)
        elif anchor and anchor not in anchors(
            text if target == page else target.read_text(encoding="utf-8")
        ):
            found.append(f"{link}#{anchor}")
    return found


def missing_modules(page: Path, text: str) -> list[str]:
    """The modules that a page names and that do not exist below its folder, the root, the package
    or the lab. A bare name may be that of any module."""
    places = (page.parent, ROOT, ROOT / "appliance", ROOT / "lab")
    return [
        name
        for name in MODULE.findall(text)
        if (
            not any((place / name).is_file() for place in places)
            if "/" in name
            else name not in MODULES
        )
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_and_anchors_of_a_page_exist(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_found() -> None:
    text = "# One head\n[a](mkdocs.yml) [b](gone.md) [c](#one-head) [d](#two) [e](docs) `x`\n"
    assert broken(ROOT / "README.md", text) == ["gone.md", "#two", "docs"]
    assert broken(ROOT / "README.md", "```\n[b](gone.md)\n```\n") == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in HISTORY], ids=str)
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    assert missing_modules(page, page.read_text(encoding="utf-8")) == []


def test_a_missing_module_is_found() -> None:
    named = "`pcm.py` `dialog/state.py` `lab/verbs.py` `dialog/pcm.py` `senses.py`"
    assert missing_modules(ROOT / "docs/x.md", named) == ["dialog/pcm.py", "senses.py"]


def test_every_page_that_the_sources_name_exists() -> None:
    files = [
        path
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in {".py", ".yaml", ".yml", ".md", ".sh", ".service"}
    ]
    named = {
        (name, str(path.relative_to(ROOT)))
        for path in files
        for name in NAMED.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert [(name, path) for name, path in sorted(named) if not (ROOT / name).exists()] == []
