"""Paths of the files that the page shows and of the folders for its requests; all are readable
without privileges. The privileged process that takes a request validates it again."""

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
    """`incoming`: archives, and requests for them. `releases`, `trial`: installed releases, and the
    trial. `os_release`: of the system. `command_line`, `start`, `firmware`: tell which slot of the
    SD card runs, and whether a trial is possible. `pull`: exists if the box looks for releases;
    `looked`, `changed`: result of the last search, and whether one was requested.
    `model_request_file`, `voice_request_file`: name the model or voice to fetch. `machine`: root of
    /proc. `warnings`: the log."""

    incoming: Path = request.INCOMING
    releases: Path = ROOT
    trial: Path = TRIAL
    os_release: Path = target.RELEASE
    pull: Path = look_record.PULL
    model_request_file: Path = WANTED
    voice_request_file: Path = VOICE_WANTED
    machine: Path = Path("/")
    warnings: Path = WARNINGS
    command_line: Path = target.COMMAND_LINE
    start: Path = target.START
    firmware: Path = target.FIRMWARE
    looked: Path = look_record.FOLDER
    changed: Path = CHANGED
