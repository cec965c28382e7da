"""docs/glossary.md names only files and classes that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
TERMS, MAPPING = PAGE.split("## Old names and new names")
ROWS = [
    line.strip("|").split("|")
    for line in MAPPING.split("### Modules and classes")[1].splitlines()
    if line.startswith("| `")
]


@cache
def classes() -> set[str]:
    """The names of all classes of the product and the lab."""
    return {
        name
        for folder in ("appliance", "lab")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"^ *class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def missing_files(text: str) -> list[str]:
    """Paths in `text` that are neither below appliance/ nor in lab/."""
    paths = re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|yaml))`", text)
    return [
        path
        for path in paths
        if not (ROOT / (path if path.startswith("lab/") else f"appliance/{path}")).exists()
    ]


def missing_classes(names: list[str]) -> list[str]:
    return [name for name in names if name not in classes()]


def test_every_file_and_class_of_the_terms_exists() -> None:
    assert missing_files(TERMS) == []
    assert missing_classes(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)*)`", TERMS)) == []


def test_every_new_name_of_a_renamed_file_or_class_exists() -> None:
    assert len(ROWS) > 200
    assert [path for row in ROWS for path in missing_files(row[1])] == []
    assert missing_classes([name for row in ROWS for name in re.findall(r"→ (\w+)", row[2])]) == []


def test_a_name_without_a_file_or_class_is_found() -> None:
    assert missing_files("`hear/senses.py` and `pcm.py`") == ["hear/senses.py"]
    assert missing_classes(["Senses", "AudioFrontEnd"]) == ["Senses"]
