"""Makes docs/reference/settings.md: every key of settings/defaults.yaml, default, unit, reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from appliance.settings import DEFAULTS

_LINE = re.compile(r"(?P<indent> *)(?P<key>\w+):(?: (?P<value>.*?))?(?: +# ?(?P<comment>.*))?")
HEAD = """# Settings

Every setting with its default, and its unit and reason as `appliance/settings/defaults.yaml` says
them. Made by `python -m scripts.reference`.

A box reads `/etc/interlude/settings.yaml`, a development machine
`~/.config/interlude/settings.yaml`. Write only what you change into it. A key with dots is
nested: `card.period_ms: 5` is `period_ms: 5` below `card:`. `interlude config` prints the settings
in effect.
"""


class SettingRow(NamedTuple):
    key: str  # with dots
    default: str  # as YAML
    meaning: str  # unit and reason


def rows() -> Iterator[SettingRow]:
    """Every key that has a value, in the order of the file."""
    path: list[str] = []
    for line in DEFAULTS.read_text(encoding="utf-8").splitlines():
        found = _LINE.fullmatch(line)
        if found is None or line.startswith("#"):
            continue
        path = [*path[: len(found["indent"]) // 2], found["key"]]
        if found["value"] is not None:
            yield SettingRow(".".join(path), found["value"].strip(), found["comment"] or "")


def page() -> str:
    """The page in Markdown: a table for each section of the file."""
    sections: dict[str, list[SettingRow]] = {}
    for row in rows():
        first = row.key.split(".")[0]
        sections.setdefault(first if "." in row.key else "", []).append(row)
    lines = [HEAD]
    for section, members in sections.items():
        lines += [f"## {section or 'Top level'}", "", "| key | default | unit and reason |"]
        lines += ["|---|---|---|"]
        lines += [f"| `{row.key}` | `{row.default}` | {_cell(row.meaning)} |" for row in members]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
