"""Beside two workers with tests that start programs, a third has the pure tier."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lanes import PURE_NICE, lane, starts_programs
from tests.programs import ROOT

MARKED = "import pytest\npytestmark = pytest.mark.process\n"
NOTES = """
import os, pathlib

def test_one():
    with open({notes!r}, "a") as notes:
        print({name!r}, os.environ["PYTEST_XDIST_WORKER"], os.nice(0), file=notes)
"""


def test_a_worker_is_known_by_its_number() -> None:
    assert [lane("gw0"), lane("gw12")] == [0, 12]


def test_a_file_starts_programs_if_one_of_its_tests_is_marked(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text("@pytest.mark.process\ndef test_one(): pass\n")
    (tmp_path / "pure.py").write_text("def test_process(): pass\n")
    assert starts_programs(tmp_path / "marked.py")
    assert not starts_programs(tmp_path / "pure.py")


@pytest.mark.process
def test_the_third_worker_begins_with_the_pure_tier_and_gives_way(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for name in ("a_box", "b_box", "c_box", "d_pure", "e_pure"):
        body = NOTES.format(name=name, notes=str(notes))
        (tmp_path / f"test_{name}.py").write_text((MARKED if "box" in name else "") + body)
    (tmp_path / "pytest.ini").touch()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-c", tmp_path / "pytest.ini", "-p", "tests.tiers",
         "-p", "tests.lanes", "-p", "no:cacheprovider", "--basetemp", tmp_path / "temp", "-n", "3",
         "--dist", "loadfile", "--no-loadscope-reorder", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    ran = {name: (where, int(nice)) for name, where, nice in map(str.split, notes.open())}
    assert set(ran) == {"a_box", "b_box", "c_box", "d_pure", "e_pure"}
    third = min(os.nice(0) + PURE_NICE, 19)
    assert {name for name, (where, _) in ran.items() if where == "gw2"} >= {"d_pure"}
    assert all(nice == (third if where == "gw2" else os.nice(0)) for where, nice in ran.values())
