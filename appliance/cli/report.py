"""Formats a report of names and values, as lines for an owner or as JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping


def format_report(found: Mapping[str, object], *, as_json: bool) -> str:
    """`found`: name → string, number or list of strings; None if not known."""
    if as_json:
        return json.dumps(found, indent=2)
    lines = []
    for name, value in found.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        lines.append(f"{name.replace('_', ' '):14} {'–' if text in (None, '') else text}")
    return "\n".join(lines)
