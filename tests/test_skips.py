"""Skips for a listed reason are counted in the last lines of a run; any other skip fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips

pytestmark = pytest.mark.process

BEGIN = "import pytest\nfrom tests import skips\n"
LACKING = f"pytest.skip({skips.MOUNTS!r})"


def run(tmp_path: Path, *bodies: str, begin: str = "") -> tuple[int, list[str]]:
    """Run tests with these bodies. Returns pytest's exit status and the lines of its output."""
    tests = [f"def test_{n}():\n    {body}\n" for n, body in enumerate(bodies)]
    (tmp_path / "test_these.py").write_text(f"{BEGIN}{begin}\n" + "\n".join(tests))
    (tmp_path / "pytest.ini").touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", tmp_path / "pytest.ini", "-p", "tests.skips",
         "-p", "no:cacheprovider", "-rfE", tmp_path],
        cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # twice as fast
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_the_last_lines_say_how_many_were_skipped_and_why(tmp_path: Path) -> None:
    code, lines = run(tmp_path, LACKING, "pytest.skip(skips.NUMBERED)", LACKING, "pass")
    assert code == 0, lines
    assert lines[-3:-1] == [f"skipped:   2 {skips.MOUNTS}", f"skipped:   1 {skips.NUMBERED}"]
    assert "1 passed, 3 skipped" in lines[-1]


def test_without_skips_the_summary_has_no_skip_lines(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "pass")
    assert code == 0, lines
    assert not [line for line in lines if line.startswith("skipped")]


@pytest.mark.parametrize("body", ["pytest.skip('no shellcheck here')", "pytest.skip()"])
def test_a_skip_for_any_other_reason_fails_the_run(tmp_path: Path, body: str) -> None:
    code, lines = run(tmp_path, body, LACKING)
    assert code == 1, lines
    assert "1 failed, 1 skipped" in lines[-1]
    assert any("is no row of LACKING" in line for line in lines)


def test_a_skip_by_a_mark_or_a_fixture_for_another_reason_fails_the_run(tmp_path: Path) -> None:
    begin = (
        "@pytest.fixture\ndef broker():\n    pytest.skip('no broker')\n"
        "@pytest.mark.skipif(True, reason='no sound')\ndef test_a(): pass\n"
        "def test_b(broker): pass\n"
    )
    code, lines = run(tmp_path, "pass", begin=begin)
    assert code == 1, lines
    assert "1 passed" in lines[-1]
    assert "skipped" not in lines[-1]


@pytest.mark.parametrize(
    "begin",
    ["pytest.importorskip('no_such_module')", "pytest.skip('x', allow_module_level=True)"],
)
def test_a_skip_of_a_whole_file_for_another_reason_fails_the_run(
    tmp_path: Path, begin: str
) -> None:
    code, lines = run(tmp_path, "pass", begin=begin)
    assert code not in (0, 5), lines
    assert any("is no row of LACKING" in line for line in lines)


def test_a_whole_file_may_skip_for_a_listed_reason(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "pass", begin="pytest.skip(skips.MOUNTS, allow_module_level=True)")
    assert code == 5, lines  # pytest's exit status if no test was run
    assert f"skipped:   1 {skips.MOUNTS}" in lines


def test_a_reason_is_accepted_only_where_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert skips.refused(skips.ROOT_RIGHTS) == ""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "it is there" in skips.refused(skips.ROOT_RIGHTS)
