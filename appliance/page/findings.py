"""What `interlude check` finds, for the page: by a program of its own, so that nobody waits here.

Pure: the program's output in, findings out. The page has no more rights for it; what it cannot see
is said beside it.
"""

from __future__ import annotations

import os
import sys
from typing import Literal, NamedTuple

import msgspec

from appliance.messages.commands import BoxStatus
from appliance.page.refusals import told
from appliance.page.texts import Texts
from appliance.settings import Settings

# A string, as in the process table: what it imports is not for this process.
PROGRAM = (sys.executable, "-m", "appliance.cli.check_beside")
LONGEST_S = 90.0  # on a Pi that is busy with an answer; then it is ended
AGAIN_S = 10.0  # between two runs: it costs some seconds of a core

CheckPhase = Literal["never", "running", "done", "failed"]


class ShownFinding(msgspec.Struct, frozen=True):
    """As runtime/diagnostics.py writes it."""

    looked_at: str
    verdict: Literal["ok", "warning", "problem"]
    sentence: str
    remedy: str = ""
    key: str = ""
    values: dict[str, str | int | float] = {}


# Where on the page something can be done about it: of what was looked at.
PLACES = {
    "model": ("/own/models", "page-models-title"),
    "memory": ("/own/models", "page-models-title"),
    "disk": ("/own/models", "page-models-title"),
    "voice": ("/own/models", "page-models-title"),
    "house": ("/set", "page-nav-set"),
    "panel": ("/set", "page-nav-set"),
    "release": ("/own/software", "page-own-software"),
    "sound card": ("/try#microphone", "page-try-microphone"),
}


class FindingRow(NamedTuple):
    """As it is shown. `place`, `label`: of the page's own view that helps; "" where none does."""

    title: str
    verdict: str
    text: str
    place: str
    label: str


def finding_row(found: ShownFinding, texts: Texts) -> FindingRow:
    """In the page's language. What has no sentence there is shown as the command prints it."""
    slug = found.looked_at.replace(", ", "-").replace(" ", "-")
    try:
        title = texts(f"page-find-at-{slug}")
    except KeyError:
        title = found.looked_at
    text = told(found.key, found.values, f"{found.sentence} {found.remedy}".strip(), texts)
    place, label = PLACES.get(found.looked_at, ("", "")) if found.verdict != "ok" else ("", "")
    return FindingRow(title, found.verdict, text, place, texts(label) if label else "")


class CheckRun:
    """The last run, or the one that goes on. `at_s`: when it began, CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        self.phase: CheckPhase = "never"
        self.found: tuple[ShownFinding, ...] = ()
        self.at_s = -AGAIN_S

    def begin(self, now_s: float) -> bool:
        """False while one goes on, or where the last has only just begun."""
        if self.phase == "running" or now_s < self.at_s + AGAIN_S:
            return False
        self.phase, self.at_s = "running", now_s
        return True

    def finish(self, output: bytes) -> None:
        """What the program wrote; b"" if it came to nothing. The gravest comes first."""
        try:
            found = msgspec.json.decode(output, type=tuple[ShownFinding, ...])
        except msgspec.DecodeError:
            self.phase, self.found = "failed", ()
            return
        order = ("problem", "warning", "ok")
        self.found = tuple(sorted(found, key=lambda one: order.index(one.verdict)))
        self.phase = "done"


def program_input(settings: Settings, status: BoxStatus | None) -> bytes:
    """The record that the program reads (cli/check_beside.py)."""
    known = {"settings": settings, "supervisor": os.getppid()}
    if status is not None:
        known |= {"broken": status.broken, "voice": status.voice, "house": status.house}
    return msgspec.json.encode(known)
