"""Writes the generated pages of docs/reference: settings, command line, MQTT topics, messages.

`python -m scripts.reference` writes them, `--check` prints the pages that are out of date. A test
does the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from scripts import reference_cli, reference_messages, reference_mqtt, reference_settings

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference"
PAGES: dict[str, Callable[[], str]] = {
    "settings.md": reference_settings.page,
    "cli.md": reference_cli.page,
    "mqtt-topics.md": reference_mqtt.page,
    "messages.md": reference_messages.page,
}


def outdated() -> list[str]:
    """The names of the pages that differ from what their function returns, or are missing."""
    found = []
    for name, page in PAGES.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != page():
            found.append(name)
    return found


def main(arguments: list[str]) -> int:
    """The exit status: 0, or 1 where `--check` finds an old page."""
    if arguments == ["--check"]:
        old = outdated()
        print("\n".join(old))
        return int(bool(old))
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
