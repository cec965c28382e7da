"""`.ci/run` fails if a test has failed once, `scripts/shuffled.sh` if one order of files has."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.programs import ROOT

pytestmark = pytest.mark.process

# Notes its arguments, and takes its exit code from the lines of a file, one per call.
MAKE = """\
printf '%s\\n' "$*" >>made
code=$(head -n 1 codes)
sed -i 1d codes
exit "${code:-0}"
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of both scripts, and a PATH whose `make` only notes what it is asked for."""
    for name in (".ci/run", "scripts/shuffled.sh"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for name, text in (("make", MAKE), ("id", "echo 1000")):  # no root, so no boxes
        (tmp_path / "bin" / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    for name in ("bash", "dirname", "head", "sed", "timeout", "python3", "git"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "bin" / name).symlink_to(Path(found).resolve())
    return tmp_path


def run(tree: Path, script: str, *words: str, codes: str) -> tuple[int, list[str], list[str]]:
    """Run `script` with a `make` of these exit codes. Returns its exit code, the lines of its
    results, and what `make` was asked for."""
    (tree / "codes").write_text("".join(f"{code}\n" for code in codes.split()))
    done = subprocess.run(
        [tree / script, *words], env={"PATH": f"{tree}/bin"}, cwd="/",
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    results = done.stdout.partition("── results\n")[2].splitlines()
    return done.returncode, results, (tree / "made").read_text().splitlines()


def test_without_a_failure_both_lines_say_ok(tree: Path) -> None:
    code, results, made = run(tree, ".ci/run", codes="0 0")
    assert code == 0
    assert [line.split()[:2] for line in results[:2]] == [["check", "ok"], ["test", "ok"]]
    assert made == ["check", "test"]


def test_a_test_that_passes_only_the_second_time_has_failed(tree: Path) -> None:
    code, results, made = run(tree, ".ci/run", codes="0 2 0")
    assert code == 2
    assert re.match(r"test +FAILED \(.*; one at a time the failed tests pass", results[1])
    assert made[2].startswith("test ARGS=-n 0 --last-failed")


def test_a_test_that_fails_twice_has_failed_without_that_remark(tree: Path) -> None:
    code, results, _ = run(tree, ".ci/run", codes="0 2 1")
    assert code == 2
    assert re.fullmatch(r"test +FAILED \(\d+ s\)", results[1])


def test_a_failed_check_fails_the_run_and_the_tests_run_all_the_same(tree: Path) -> None:
    code, results, _ = run(tree, ".ci/run", codes="3 0")
    assert code == 3
    assert [line.split()[:2] for line in results[:2]] == [["check", "FAILED"], ["test", "ok"]]


# ── orders of files ──────────────────────────────────────────────────────────────────────────
def test_ten_orders_of_files_run_with_the_given_arguments(tree: Path) -> None:
    code, results, made = run(tree, "scripts/shuffled.sh", "-m", "not process", codes="")
    assert (code, len(results)) == (0, 10)
    assert all(re.fullmatch(r"seed \d+ +ok \(\d+ s\)", line) for line in results)
    asked = [re.fullmatch(r"test ARGS=--shuffle-files=(\d+) (.*)", line) for line in made]
    assert len({match[1] for match in asked if match}) == 10
    assert {match[2] for match in asked if match} == {"'-m' 'not process'"}


def test_one_failed_order_fails_after_all_have_run(tree: Path) -> None:
    code, results, made = run(tree, "scripts/shuffled.sh", codes="0 0 2 0")
    assert (code, len(made)) == (1, 10)
    assert [line.split()[2] for line in results] == ["ok", "ok", "FAILED", *["ok"] * 7]
