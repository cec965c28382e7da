"""Only tests that start a program that set-up does not install fail."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.programs import ROOT, stray

pytestmark = pytest.mark.process

KNOWN = {"cat", "espeak-ng"}


@pytest.mark.parametrize(
    "program", ["cat", "/usr/bin/cat", "bin/cat", sys.executable, f"{ROOT}/.venv/bin/interlude"]
)
def test_programs_of_the_table_and_of_the_project_may_be_started(program: str) -> None:
    assert stray(program, KNOWN) is None


@pytest.mark.parametrize("program", ["dog", "/usr/bin/dog", "bin/dog", "/bin/cat5", f"{ROOT}-2/x"])
def test_any_other_program_is_reported(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/tests")  # the clone may be below /tmp
    assert stray(program, KNOWN, path="/usr/bin", cwd="/usr") == program


def test_a_program_created_by_a_test_may_be_started_also_by_name(tmp_path: Path) -> None:
    program = tmp_path / "nmcli"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert stray("nmcli", KNOWN, path=str(tmp_path)) is None
    assert stray("./nmcli", KNOWN, cwd=str(tmp_path)) is None
    assert stray("nmcli", KNOWN, path="/usr/bin") == "nmcli"


# ── in a run ─────────────────────────────────────────────────────────────────────────────────
BEGIN = "import contextlib, os, shutil, subprocess, sys\n"
MISSING = "with contextlib.suppress(FileNotFoundError):\n        subprocess.run(['dog', '-v'])"


def run(tmp_path: Path, *bodies: str) -> tuple[int, str]:
    """Run tests with these bodies. Returns pytest's exit status and output."""
    tests = [f"def test_{n}(tmp_path):\n    {body}\n" for n, body in enumerate(bodies)]
    (tmp_path / "test_these.py").write_text(BEGIN + "\n".join(tests))
    (tmp_path / "pytest.ini").touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", tmp_path / "pytest.ini", "-p", "tests.programs",
         "-p", "no:cacheprovider", "--basetemp", tmp_path / "temp", "-rfE", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # twice as fast
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_a_test_that_starts_programs_of_the_table_passes(tmp_path: Path) -> None:
    code, output = run(
        tmp_path,
        "assert subprocess.run(['cat', '/dev/null']).returncode == 0",
        "assert subprocess.run('cat /dev/null', shell=True).returncode == 0",
        "assert subprocess.run([sys.executable, '-c', '']).returncode == 0",
    )
    assert (code, "3 passed" in output) == (0, True), output


@pytest.mark.parametrize(
    "body",
    [
        MISSING,
        "subprocess.run(['/usr/bin/yes', '--help'], env={})",
        "pid = os.posix_spawn('/usr/bin/yes', ['yes', '--help'], {}); os.waitpid(pid, 0)",
    ],
)
def test_a_test_that_starts_another_program_fails_with_instructions(
    tmp_path: Path, body: str
) -> None:
    code, output = run(tmp_path, body, "pass")
    assert code == 1, output
    assert "1 failed, 1 passed" in output
    assert "no row of scripts/tools.txt for setup or test" in output


def test_child_processes_find_only_the_programs_of_the_table(tmp_path: Path) -> None:
    code, output = run(
        tmp_path,
        "assert subprocess.run('command -v mkfs.vfat', shell=True).returncode == 0",
        "assert subprocess.run('command -v yes', shell=True).returncode != 0",
        "assert shutil.which('yes') is None",
    )
    assert (code, "3 passed" in output) == (0, True), output


def test_without_the_guard_the_other_program_would_be_found() -> None:
    found = subprocess.run(
        ["sh", "-c", "command -v yes"], env={"PATH": "/usr/bin:/bin"}, check=False,
        capture_output=True,
    )  # fmt: skip
    assert found.returncode == 0
