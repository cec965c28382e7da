"""Where the page looks for what it shows of the box, and where it may leave a request: all of it
readable without rights. A request is a note; whoever has the right looks at it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from appliance.models.store import VOICE_WANTED, WANTED
from appliance.page.report import WARNINGS
from appliance.runtime.handed_request import CHANGED
from appliance.update import request
from appliance.update.release import look_record
from appliance.update.release.store import ROOT, TRIAL
from appliance.update.system import target


@dataclass(frozen=True)
class OwnPlaces:
    """`incoming`: archives, and notes that ask for one. `releases`, `trial`: what is kept, and what
    is being tried. `os_release`: of the system. `command_line`, `start`, `firmware`: which slot of
    the card runs, and whether the other one can be tried. `pull`: there, where a release is
    looked for; `looked`, `changed`: what came of the last look, and whether one was ordered.
    `model_wish`, `voice_wish`: what is being fetched. `machine`: where its /proc is.
    `warnings`: those that were kept."""

    incoming: Path = request.INCOMING
    releases: Path = ROOT
    trial: Path = TRIAL
    os_release: Path = target.RELEASE
    pull: Path = Path("/etc/interlude/pull.env")
    model_wish: Path = WANTED
    voice_wish: Path = VOICE_WANTED
    machine: Path = Path("/")
    warnings: Path = WARNINGS
    command_line: Path = target.COMMAND_LINE
    start: Path = target.START
    firmware: Path = target.FIRMWARE
    looked: Path = look_record.FOLDER
    changed: Path = CHANGED
