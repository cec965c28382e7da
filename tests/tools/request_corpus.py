"""The requests in `requests/`, and how many of each file the guard misjudges.

`python -m tests.tools.request_corpus` prints the counts; with `-v` also the lines.
"""

from __future__ import annotations

import sys
from pathlib import Path

from appliance.tools.guard.reading import opens_something

FOLDER = Path(__file__).parent / "requests"
FILES = sorted(FOLDER.glob("*.txt"))


def lines(file: Path) -> list[str]:
    return [line for line in file.read_text(encoding="utf-8").splitlines() if line]


def misjudged(file: Path) -> list[str]:
    """The lines that open something and are let through, or are harmless and asked twice."""
    opening = file.name.startswith("opening")
    return [line for line in lines(file) if opens_something(line) != opening]


if __name__ == "__main__":
    for file in FILES:
        wrong = misjudged(file)
        what = "let through" if file.name.startswith("opening") else "asked twice"
        print(f"{file.name}: {len(wrong)} of {len(lines(file))} {what}")
        for line in wrong if "-v" in sys.argv else ():
            print(f"    {line}")
