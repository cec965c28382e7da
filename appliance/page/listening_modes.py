"""The listening modes that the page offers; one that cannot be used on this box says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from appliance.messages.commands import ModeName
from appliance.page.visit import Visit


@dataclass(frozen=True)
class OfferedMode:
    """`name`: as in SetMode; `words`: the translated name; `usable`: on this box."""

    name: str
    words: str
    usable: bool


def offered(visit: Visit) -> list[OfferedMode]:
    return [_offered(visit, name) for name in get_args(ModeName)]


def lacks_button(visit: Visit, mode: str) -> bool:
    """Whether the mode needs a talk button and the box has none."""
    return mode == "push_to_talk" and not visit.box.settings.panel.here


def _offered(visit: Visit, name: str) -> OfferedMode:
    words = visit.texts(f"page-mode-{name.replace('_', '-')}")
    if lacks_button(visit, name):
        return OfferedMode(name, visit.texts("page-mode-no-button", mode=words), usable=False)
    return OfferedMode(name, words, usable=True)
