"""The findings of `interlude check` on the page: what the program is given, what is made of it."""

from __future__ import annotations

import json
import os

import msgspec
import pytest

from appliance.cli.check_beside import BesideBox
from appliance.messages.commands import BoxStatus
from appliance.page.findings import AGAIN_S, CheckRun, program_input
from appliance.settings import load

FOUND = [
    {"looked_at": "cores", "verdict": "ok", "sentence": "4 cores.", "remedy": ""},
    {"looked_at": "disk", "verdict": "problem", "sentence": "Full.", "remedy": "Free some."},
    {"looked_at": "level", "verdict": "warning", "sentence": "Loud.", "remedy": "Lower it."},
]


def test_the_gravest_finding_comes_first() -> None:
    run = CheckRun()
    assert run.begin(100.0)
    run.finish(json.dumps(FOUND).encode())
    assert run.phase == "done"
    assert [one.looked_at for one in run.found] == ["disk", "level", "cores"]


@pytest.mark.parametrize("output", [b"", b"Traceback", b'[{"looked_at": "x"}]', b'{"a": 1}'])
def test_a_program_that_came_to_nothing_leaves_no_finding_of_an_earlier_one(output: bytes) -> None:
    run = CheckRun()
    run.begin(0.0)
    run.finish(json.dumps(FOUND).encode())
    run.begin(100.0)
    run.finish(output)
    assert (run.phase, run.found) == ("failed", ())


def test_one_goes_on_at_a_time_and_not_too_often() -> None:
    run = CheckRun()
    assert run.begin(100.0)
    assert not run.begin(200.0)
    run.finish(b"[]")
    assert not run.begin(100.0 + AGAIN_S - 0.1)
    assert run.begin(100.0 + AGAIN_S)


def test_the_program_reads_what_the_page_writes() -> None:
    status = BoxStatus("open", False, 0.8, "amy", "gemma", broken=("the microphone",), house=False)
    settings = load(None, {"link": {"name": "Kitchen"}})
    box = msgspec.json.decode(program_input(settings, status), type=BesideBox)
    assert box == BesideBox(settings, os.getppid(), ("the microphone",), "amy", False)
    assert msgspec.json.decode(program_input(settings, None), type=BesideBox).house is None
