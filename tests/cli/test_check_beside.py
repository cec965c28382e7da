"""`interlude check` beside a running box: the same findings, without those of the hardware."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from appliance.cli.check_beside import BesideBox, collect_beside
from appliance.language.catalogue import catalogue
from appliance.runtime.diagnostics import Finding
from appliance.settings import load
from tests.cli.fit_machine import machine


def found(tmp_path: Path, **box: object) -> dict[str, Finding]:
    options = {"state_dir": str(tmp_path), "link": {"broker": "localhost"}}
    beside = msgspec.structs.replace(BesideBox(load(None, options), 1), **box)
    return {finding.looked_at: finding for finding in collect_beside(beside, machine(tmp_path))}


def test_running_parts_are_queried_and_not_tested(tmp_path: Path) -> None:
    well = found(tmp_path, voice="amy", house=True)
    assert well["voice"].sentence.startswith(("amy", "espeak-ng is not installed"))
    assert well["house"].verdict == well["model"].verdict == "ok"
    assert "has it open" in well["sound card"].sentence
    assert not {"network", "Wi-Fi", "prompt", "level", "clock"} & well.keys()


@pytest.mark.parametrize(
    ("box", "looked_at", "text"),
    [
        ({"house": False, "voice": "amy"}, "house", "no connection"),
        ({"house": True, "broken": ("the microphone",)}, "sound card", "without capture"),
    ],
)
def test_a_fault_of_a_running_part_is_a_problem_with_a_remedy(
    tmp_path: Path, box: dict[str, object], looked_at: str, text: str
) -> None:
    finding = found(tmp_path, **box)[looked_at]
    assert (finding.verdict, text in finding.sentence, bool(finding.remedy)) == (
        "problem",
        True,
        True,
    )


@pytest.mark.long
def test_every_finding_has_a_translated_message(tmp_path: Path) -> None:
    ill: dict[str, str | None] = {
        "proc/meminfo": "MemTotal: 1000 kB\n",
        "proc/self/limits": "",
        "proc/1/limits": "",
        "sys/class/thermal/thermal_zone0/temp": "91000\n",
        "sys/devices/platform/soc@107c000000/soc:firmware/get_throttled": "50005\n",
    }
    options = {"state_dir": str(tmp_path), "link": {"broker": "localhost"}}
    beside = BesideBox(load(None, options), 1, broken=("the microphone",))
    for changes in ({}, ill):
        everything = collect_beside(beside, machine(tmp_path, changes))
        assert len(everything) > 9
        assert [
            finding for finding in everything if finding.key not in catalogue("de").messages
        ] == []


@pytest.mark.process
def test_the_program_writes_findings_for_the_record_that_it_reads(tmp_path: Path) -> None:
    box = BesideBox(load(None, {"state_dir": str(tmp_path)}), parent=1)
    command = [sys.executable, "-m", "appliance.cli.check_beside"]
    ran = subprocess.run(command, input=msgspec.json.encode(box), capture_output=True, check=True)
    assert {"software", "disk", "echo"} <= {
        finding["looked_at"] for finding in json.loads(ran.stdout)
    }
