"""The findings of `interlude check` on the page: the program's input and the use of its output."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from appliance.cli.check_beside import BesideBox
from appliance.language.catalogue import catalogue
from appliance.messages.commands import BoxStatus
from appliance.page.findings import (
    AGAIN_S,
    PLACES,
    CheckRun,
    ShownFinding,
    finding_row,
    program_input,
)
from appliance.page.site import PAGES
from appliance.page.texts import Texts
from appliance.settings import load

FOUND = [
    {"looked_at": "cores", "verdict": "ok", "sentence": "4 cores.", "remedy": ""},
    {"looked_at": "disk", "verdict": "problem", "sentence": "Full.", "remedy": "Free some."},
    {"looked_at": "level", "verdict": "warning", "sentence": "Loud.", "remedy": "Lower it."},
]


def test_the_most_severe_finding_comes_first() -> None:
    run = CheckRun()
    assert run.begin(100.0)
    run.finish(json.dumps(FOUND).encode())
    assert run.phase == "done"
    assert [one.looked_at for one in run.found] == ["disk", "level", "cores"]


@pytest.mark.parametrize("output", [b"", b"Traceback", b'[{"looked_at": "x"}]', b'{"a": 1}'])
def test_a_failed_check_shows_no_findings_of_an_earlier_one(output: bytes) -> None:
    run = CheckRun()
    run.begin(0.0)
    run.finish(json.dumps(FOUND).encode())
    run.begin(100.0)
    run.finish(output)
    assert (run.phase, run.found) == ("failed", ())


def test_only_one_check_runs_at_a_time_and_not_too_often() -> None:
    run = CheckRun()
    assert run.begin(100.0)
    assert not run.begin(200.0)
    run.finish(b"[]")
    assert not run.begin(100.0 + AGAIN_S - 0.1)
    assert run.begin(100.0 + AGAIN_S)


FULL = ShownFinding(
    "disk", "problem", "Only 9 MiB are free.", "Free 200 or more.", "page-find-disk-full",
    {"mib": 9, "least": 200},
)  # fmt: skip


def test_a_finding_is_in_the_pages_language_and_links_to_its_remedy() -> None:
    german = finding_row(FULL, Texts("de"))
    assert german.title == "Platz auf der Karte"
    assert german.text.startswith("Nur 9 MiB sind frei, und 200 werden gebraucht.")
    assert (german.place, german.label) == ("/own/models", "Modelle und Stimmen")
    english = finding_row(FULL, Texts("en"))
    assert english.text.startswith("Only 9 MiB are free, and 200 are needed.")
    well = msgspec.structs.replace(FULL, verdict="ok")
    assert finding_row(well, Texts("en")).place == "", "a passed check has no remedy"


def test_a_finding_without_a_sentence_of_the_page_is_shown_as_the_command_prints_it() -> None:
    bare = ShownFinding("tides", "warning", "The moon is down.", "Wait.")
    assert finding_row(bare, Texts("en"))[:3] == ("tides", "warning", "The moon is down. Wait.")
    german = finding_row(bare, Texts("de")).text
    assert german == "Dazu gibt es nur einen englischen Text: The moon is down. Wait."


@pytest.mark.parametrize("place", sorted({place for place, _ in PLACES.values()}))
def test_every_finding_links_to_an_existing_view(place: str) -> None:
    route = PAGES.get(place.partition("#")[0])
    assert route is not None
    assert route.get is not None


# ── every finding that can reach the page ────────────────────────────────────────────────────
ROOT = Path(__file__).parents[2] / "appliance"
MODULES = (
    "cli/check.py", "cli/check_beside.py", "cli/machine_checks.py", "cli/secret_checks.py",
    "hear/turn/turn_check.py",
    "panel/checks.py", "audio/device_checks.py",
)  # fmt: skip
# Only in `interlude check`: check_beside.py replaces them, or they need a sound card that the box
# has open.
SHELL_ONLY = {"prompt", "_stream", "_level", "_clock", "card_findings"}
SHOWN_AT = {"ok": 2, "warning": 3, "problem": 3, "told_by": 2}  # position of `shown`


def unworded() -> Iterator[tuple[str, str, int]]:
    """Findings without a sentence of the page: module, function, line."""
    for module in MODULES:
        for function in ast.walk(ast.parse((ROOT / module).read_text())):
            if not isinstance(function, ast.FunctionDef) or function.name in SHELL_ONLY:
                continue
            for call in ast.walk(function):
                if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
                    continue
                at = SHOWN_AT.get(call.func.id)
                named = any(word.arg == "shown" for word in call.keywords)
                if at is not None and len(call.args) <= at and not named:
                    yield module, function.name, call.lineno


def test_every_finding_has_a_sentence_of_the_page() -> None:
    asked_by_probes = {("cli/check.py", "collect_findings")}  # check_beside.py gives them sentences
    left = [one for one in unworded() if one[:2] not in asked_by_probes]
    assert left == []


def test_every_checked_subject_has_a_title_in_both_languages() -> None:
    text = "".join((ROOT / module).read_text() for module in MODULES)
    looked_at = set(re.findall(r'(?:ok|warning|problem|told_by|grave)\(\s*"([a-z ,]+)"', text))
    assert {"cores", "disk", "sound card", "heat, power"} <= looked_at
    for language in ("en", "de"):
        keys = catalogue(language).messages
        slugs = {one.replace(", ", "-").replace(" ", "-") for one in looked_at - SHELL_TITLES}
        assert {slug for slug in slugs if f"page-find-at-{slug}" not in keys} == set()


SHELL_TITLES = {"prompt", "level"}


def test_the_program_reads_what_the_page_writes() -> None:
    status = BoxStatus("open", False, 0.8, "amy", "gemma", broken=("the microphone",), house=False)
    settings = load(None, {"link": {"name": "Kitchen"}})
    box = msgspec.json.decode(program_input(settings, status), type=BesideBox)
    assert box == BesideBox(settings, os.getppid(), ("the microphone",), "amy", False)
    assert msgspec.json.decode(program_input(settings, None), type=BesideBox).house is None
