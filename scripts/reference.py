"""Writes the generated pages of docs/: settings, command line, MQTT topics, messages, states, the
tree, and the drawings.

`python -m scripts.reference` writes them; `--check` prints the pages that are out of date. A test
fails if one is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from scripts import (
    drawing,
    reference_cli,
    reference_messages,
    reference_mqtt,
    reference_rights,
    reference_settings,
    reference_states,
    tree,
    wiring,
)

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference"
PAGES: dict[Path, Callable[[], str]] = {
    FOLDER / "settings.md": reference_settings.page,
    FOLDER / "cli.md": reference_cli.page,
    FOLDER / "mqtt-topics.md": reference_mqtt.page,
    FOLDER / "messages.md": reference_messages.page,
    FOLDER / "rights.md": reference_rights.page,
    reference_states.PAGE: reference_states.page,
    tree.PAGE: tree.page,
    drawing.PAGE: drawing.drawing,
    wiring.PAGE: wiring.as_svg,
}


def outdated() -> list[str]:
    """The names of the pages that differ from what their function returns, or are missing."""
    found = []
    for path, page in PAGES.items():
        if not path.exists() or path.read_text(encoding="utf-8") != page():
            found.append(path.name)
    return found


def main(arguments: list[str]) -> int:
    """Write or check the pages. Returns 0, or 1 if `--check` finds a page that is out of date."""
    if arguments == ["--check"]:
        old = outdated()
        print("\n".join(old))
        return int(bool(old))
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
