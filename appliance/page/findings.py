"""Findings of `interlude check` on the page. A child process runs the check.

Pure: the program's output in, findings out. The program has only the page's privileges; the page
says what it cannot check.
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

# A module name, as in the process table, so that this process does not import it.
PROGRAM = (sys.executable, "-m", "appliance.cli.check_beside")
LONGEST_S = 90.0  # timeout, for a Pi that is busy with an answer
AGAIN_S = 10.0  # between two runs, which take some seconds of a core

CheckPhase = Literal["never", "running", "done", "failed"]


class ShownFinding(msgspec.Struct, frozen=True):
    """One finding, as encoded by runtime/diagnostics.py."""

    looked_at: str
    verdict: Literal["ok", "warning", "problem"]
    sentence: str
    remedy: str = ""
    key: str = ""
    values: dict[str, str | int | float] = {}


# The view of the page that offers a remedy, for each subject of the check.
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
    """A finding as shown. `place`, `label`: link to the view that helps; "" if there is none."""

    title: str
    verdict: str
    text: str
    place: str
    label: str


def finding_row(found: ShownFinding, texts: Texts) -> FindingRow:
    """Translate a finding. One without a translation is shown as the command prints it."""
    slug = found.looked_at.replace(", ", "-").replace(" ", "-")
    try:
        title = texts(f"page-find-at-{slug}")
    except KeyError:
        title = found.looked_at
    text = told(found.key, found.values, f"{found.sentence} {found.remedy}".strip(), texts)
    place, label = PLACES.get(found.looked_at, ("", "")) if found.verdict != "ok" else ("", "")
    return FindingRow(title, found.verdict, text, place, texts(label) if label else "")


class CheckRun:
    """The latest run of the check. `at_s`: its start, CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        self.phase: CheckPhase = "never"
        self.found: tuple[ShownFinding, ...] = ()
        self.at_s = -AGAIN_S

    def begin(self, now_s: float) -> bool:
        """Start a run. False while one is under way, or within AGAIN_S of the last start."""
        if self.phase == "running" or now_s < self.at_s + AGAIN_S:
            return False
        self.phase, self.at_s = "running", now_s
        return True

    def finish(self, output: bytes) -> None:
        """Decode the program's output, b"" if it failed. The most severe findings come first."""
        try:
            found = msgspec.json.decode(output, type=tuple[ShownFinding, ...])
        except msgspec.DecodeError:
            self.phase, self.found = "failed", ()
            return
        order = ("problem", "warning", "ok")
        self.found = tuple(sorted(found, key=lambda finding: order.index(finding.verdict)))
        self.phase = "done"


def program_input(settings: Settings, status: BoxStatus | None) -> bytes:
    """The JSON that the program reads from its standard input (cli/check_beside.py)."""
    known = {"settings": settings, "parent": os.getppid()}
    if status is not None:
        known |= {"broken": status.broken, "voice": status.voice, "house": status.house}
    return msgspec.json.encode(known)
