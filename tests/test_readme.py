"""The README says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import tree

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_of_the_tree_is_made_from_the_modules() -> None:
    assert tree.PAGE.read_text(encoding="utf-8") == tree.page(), "run: python scripts/tree.py"


def test_every_module_says_what_it_is_for() -> None:
    files = [path for name in tree.PACKAGES for path in (ROOT / name).rglob("*.py")]
    assert [str(path) for path in files if path.read_text() and not tree.summary(path)] == []


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)h#][^)]*)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


@pytest.mark.parametrize("verb", ["demo", "test"])
def test_the_two_commands_are_verbs_of_the_makefile(verb: str) -> None:
    assert f"make {verb}" in README
    assert re.search(rf"^{verb}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
