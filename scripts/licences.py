"""Compares LICENSES.md with the lock files: each dependency needs a row, and each row a dependency.

The dependencies of the box itself (requirements.lock) may not be GPL; only optional programs may.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOX_LOCKS = ("requirements.lock", "requirements-llama.lock")
DEV_LOCKS = ("requirements-dev.lock",)
_SECTION = "## Python packages"
# GCC's runtime library exception permits linking the library with any program.
_GPL = re.compile(r"(?<!L)GPL(?!.*exception)|(?<!Lesser )General Public License", re.IGNORECASE)
_ROW = re.compile(r"\| (?P<name>[a-z0-9-]+) \| (?P<licence>[^|]+?) \| [^|]*\|")


def locked(text: str) -> set[str]:
    """The names in a lock file."""
    return set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))


def rows(page: str) -> dict[str, str]:
    """Name → licence, from the tables of Python packages."""
    _, _, tables = page.partition(_SECTION)
    return {row["name"]: row["licence"] for row in _ROW.finditer(tables)}


def problems(page: str, box: Iterable[str], dev: Iterable[str]) -> list[str]:
    """A sentence for each difference between the page and the locks, and for each GPL package."""
    licences, box_names, all_names = rows(page), set(box), {*box, *dev}
    return [
        *(
            f"{name} is locked, but has no row in LICENSES.md."
            for name in all_names - licences.keys()
        ),
        *(
            f"{name} has a row in LICENSES.md, but is not locked."
            for name in licences.keys() - all_names
        ),
        *(
            f"{name} is {licences[name]}: the box may not depend on it."
            for name in box_names & licences.keys()
            if _GPL.search(licences[name])
        ),
    ]


def copyleft(library: Path) -> list[str]:
    """A sentence for each package below `library` whose metadata say that it is GPL, which no
    package of a release may be."""
    found = []
    for about in sorted(library.glob("*.dist-info/METADATA")):
        metadata = HeaderParser().parsestr(about.read_text(encoding="utf-8", errors="replace"))
        fields = [metadata.get("License-Expression") or metadata.get("License") or ""]
        fields += [
            field for field in metadata.get_all("Classifier", []) if field.startswith("License ::")
        ]
        # The field may contain the full text of the licence; its first line names it.
        lines = [field.strip().split("\n")[0] for field in fields]
        if any(_GPL.search(line) for line in lines):
            found.append(f"{metadata['Name']} is {lines[0]}: the release may not contain it.")
    return found


def main() -> int:
    page = (ROOT / "LICENSES.md").read_text(encoding="utf-8")
    box, dev = (
        set().union(*(locked((ROOT / lock).read_text()) for lock in locks))
        for locks in (BOX_LOCKS, DEV_LOCKS)
    )
    found = sorted(problems(page, box, dev))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
