"""The modes of listening as the page offers them: one that nobody could use says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from appliance.messages.commands import ModeName
from appliance.page.visit import Visit


@dataclass(frozen=True)
class OfferedMode:
    """`name`: as SetMode has it; `words`: for people; `usable`: on this box."""

    name: str
    words: str
    usable: bool


def offered(visit: Visit) -> list[OfferedMode]:
    return [_offered(visit, name) for name in get_args(ModeName)]


def lacks_button(visit: Visit, mode: str) -> bool:
    """For a mode in which nobody could ever talk to the box without one."""
    return mode == "push_to_talk" and not visit.box.settings.panel.here


def _offered(visit: Visit, name: str) -> OfferedMode:
    words = visit.texts(f"page-mode-{name.replace('_', '-')}")
    if lacks_button(visit, name):
        return OfferedMode(name, visit.texts("page-mode-no-button", mode=words), usable=False)
    return OfferedMode(name, words, usable=True)
