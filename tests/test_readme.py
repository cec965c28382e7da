"""The README says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_file_of_the_package_is_in_the_tree() -> None:
    tree = README.split("## The tree")[1]
    files = {path.name for path in (ROOT / "appliance").rglob("*.py")} - {"__init__.py"}
    assert {name for name in files if f" {name} " not in tree} == set()


def test_the_tree_names_no_file_that_is_gone() -> None:
    tree = README.split("## The tree")[1].split("## Settings")[0]
    named = set(re.findall(r"^\s+(\w+\.py) ", tree, re.MULTILINE))
    assert named <= {path.name for path in (ROOT / "appliance").rglob("*.py")}


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)h#][^)]*)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


@pytest.mark.parametrize("verb", ["demo", "test"])
def test_the_two_commands_are_verbs_of_the_makefile(verb: str) -> None:
    assert f"make {verb}" in README
    assert re.search(rf"^{verb}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
