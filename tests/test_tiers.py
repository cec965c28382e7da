"""Only tests that start a program without the mark `process` fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import ROOT
from tests.tiers import unmarked

pytestmark = pytest.mark.process

BEGIN = """\
import os, subprocess, sys
import pytest

@pytest.fixture(scope="module")
def program():
    return subprocess.run([sys.executable, "-c", ""])
"""


@pytest.mark.parametrize(("count", "marked"), [(0, False), (0, True), (2, True)])
def test_a_test_with_the_right_mark_has_no_problem(count: int, marked: bool) -> None:
    assert unmarked(count, marked=marked) == ""


def test_an_unmarked_start_is_reported_with_the_line_to_add() -> None:
    assert "pytestmark = pytest.mark.process" in unmarked(1, marked=False)


def run(tmp_path: Path, body: str, *options: str) -> dict[str, int]:
    """Run a test file. Returns the number of passed, failed and other tests."""
    (tmp_path / "test_these.py").write_text(BEGIN + body)
    (tmp_path / "pytest.ini").touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", tmp_path / "pytest.ini", "-p", "tests.tiers",
         "-p", "no:cacheprovider", "--basetemp", tmp_path / "temp", *options, tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # twice as fast
    )  # fmt: skip
    found = re.findall(r"(\d+) (passed|failed|error|deselected)", done.stdout.splitlines()[-1])
    return {name: int(count) for count, name in found}


STARTS = "subprocess.run([sys.executable, '-c', ''])"


@pytest.mark.parametrize(
    "body",
    [STARTS, "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)", "os.system('true')"],
)
def test_a_start_without_the_mark_fails_and_with_it_passes(tmp_path: Path, body: str) -> None:
    assert run(tmp_path, f"def test_one():\n    {body}\n") == {"failed": 1}
    marked = f"@pytest.mark.process\ndef test_one():\n    {body}\n"
    assert run(tmp_path, marked) == {"passed": 1}
    assert run(tmp_path, marked, "-m", "not process") == {"deselected": 1}


def test_a_program_started_by_a_fixture_counts_for_the_test_that_uses_it(tmp_path: Path) -> None:
    found = run(tmp_path, "def test_one(program): pass\ndef test_two(): pass\n")
    assert found == {"error": 1, "passed": 1}


def test_a_test_that_only_computes_is_in_the_pure_tier(tmp_path: Path) -> None:
    assert run(tmp_path, "def test_one(): pass\n", "-m", "not process") == {"passed": 1}


def test_a_long_test_is_not_in_the_pure_tier_and_may_not_start_programs(tmp_path: Path) -> None:
    body = "@pytest.mark.long\ndef test_one(): pass\n"
    assert run(tmp_path, body) == run(tmp_path, body, "-m", "process") == {"passed": 1}
    assert run(tmp_path, body, "-m", "not process") == {"deselected": 1}
    starts = f"@pytest.mark.long\ndef test_one():\n    {STARTS}\n"
    assert run(tmp_path, starts) == {"failed": 1}
