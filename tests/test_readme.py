"""The README is one page, and its commands and figures match the Makefile and figures.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import tree

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIGURES = ROOT / "docs/benchmarks/figures.md"
MOST_LINES, MOST_BYTES = 150, 8_000
MOST_LINES_OF_A_PAGE = 60  # of docs/architecture
ARCHITECTURE = sorted((ROOT / "docs/architecture").glob("*.md"))


def rows(text: str) -> list[list[str]]:
    """The cells of every row of every table, including header and delimiter rows."""
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    return [re.split(r" \| ", line) for line in lines]


def figures() -> dict[str, list[str]]:
    """Name of the figure → goal, measured value, n, date, command, machine."""
    return {row[0]: row[1:] for row in rows(FIGURES.read_text("utf-8")) if len(row) == 7}


def test_every_module_has_a_summary() -> None:
    files = [path for name in tree.PACKAGES for path in (ROOT / name).rglob("*.py")]
    assert [str(path) for path in files if path.read_text() and not tree.summary(path)] == []


def test_the_readme_is_one_page() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    assert len(README.encode()) <= MOST_BYTES


@pytest.mark.parametrize("page", ARCHITECTURE, ids=lambda p: p.name)
def test_a_page_of_the_architecture_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES_OF_A_PAGE


@pytest.mark.parametrize("verb", ["demo", "test"])
def test_the_two_commands_are_targets_of_the_makefile(verb: str) -> None:
    assert f"make {verb}" in README
    assert re.search(rf"^{verb}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_six_figures_match_the_figures_page() -> None:
    section = README.split("## Six figures")[1].split("\n## ")[0]
    head, rule, *quoted = rows(section.replace("|---|---|", "| --- | --- |"))
    assert (head, rule) == (["what", "measured"], ["---", "---"])
    assert len(quoted) == 6
    known = figures()
    assert quoted == [[what, known[what][1]] for what, _ in quoted]


def test_every_figure_has_a_date_a_command_and_a_machine_and_one_row() -> None:
    text = FIGURES.read_text(encoding="utf-8")
    names = [row[0] for row in rows(text) if len(row) == 7 and row[0] != "what"]
    assert len(names) >= 50
    assert len(set(names)) == len(names)
    for name in names:
        _, measured, count, date, command, machine = figures()[name]
        assert re.search(r"\d", measured), name
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", date), name
        assert all((count, command, machine)), name
