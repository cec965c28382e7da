"""A test that never returns from C ends its process, which prints where it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import ROOT

pytestmark = pytest.mark.process

# In these processes the thread is set to half a second.
CONFTEST = """\
import tests.stuck

tests.stuck.STUCK_S = 0.5
tests.stuck.AGAIN_S = 0.1
pytest_plugins = ["tests.stuck"]
"""
BODY = """\
import hashlib
import pytest

def test_before():
    pass

{mark}
def test_in_c():
    hashlib.pbkdf2_hmac("sha256", b"", b"", {rounds})
"""
NEVER, LONGER = 1_000_000_000, 1_500_000


def run(folder: Path, rounds: int, mark: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_these.py").write_text(BODY.format(rounds=rounds, mark=mark))
    (folder / "pytest.ini").touch()
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", folder / "pytest.ini", "-p", "no:cacheprovider",
         "--basetemp", folder / "temp", folder],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_a_process_stuck_in_c_prints_where_it_is_and_ends(tmp_path: Path) -> None:
    done = run(tmp_path, NEVER)
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert "in test_in_c" in done.stderr
    assert "failed" not in done.stdout  # the process ended before pytest's summary


def test_a_test_with_a_longer_limit_is_not_ended(tmp_path: Path) -> None:
    done = run(tmp_path, LONGER, "@pytest.mark.timeout(60)")
    assert "2 passed" in done.stdout
