"""Beside the workers for tests that start programs, others have the pure tier; longest first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lanes import (
    BOX_WORKERS,
    LONG,
    PROGRAMS,
    PURE,
    PURE_NICE,
    REAL_TIME,
    TOOK,
    kind,
    lane,
    merged,
    next_file,
    workers,
)
from tests.programs import ROOT

MARKED = "import pytest\npytestmark = pytest.mark.process\n"
SOUNDING = 'import pytest\npytestmark = [pytest.mark.process]  # usefixtures("simcard_library")\n'
HEADS = {"box": MARKED, "pure": "", "card": SOUNDING}
NOTES = """
import os, pathlib

def test_one():
    with open({notes!r}, "a") as notes:
        print({name!r}, os.environ["PYTEST_XDIST_WORKER"], os.nice(0), file=notes)
"""


def test_a_worker_is_known_by_its_number() -> None:
    assert [lane("gw0"), lane("gw12")] == [0, 12]


def test_a_file_is_of_a_kind_by_its_mark_and_its_fixture(tmp_path: Path) -> None:
    (tmp_path / "marked.py").write_text("@pytest.mark.process\ndef test_one(): pass\n")
    (tmp_path / "sounding.py").write_text(SOUNDING)
    (tmp_path / "pure.py").write_text("def test_process(simcard_library): pass\n")
    kinds = [kind(str(tmp_path / f"{name}.py")) for name in ("sounding", "marked", "pure")]
    assert kinds == [REAL_TIME, PROGRAMS, PURE]


def test_the_longest_file_of_the_lanes_first_kind_is_next(tmp_path: Path) -> None:
    files = ["a_box", "b_box", "c_card", "d_card", "e_pure", "f_pure"]
    for name in files:
        (tmp_path / name).write_text(HEADS[name.partition("_")[2]])
    seconds = {"b_box": 50.0, "d_card": 3.0, "f_pure": 2.0, "c_card": 1.0}
    for number, order in ((0, "dcbafe"), (BOX_WORKERS, "febadc")):
        left, taken = list(files), ""
        while left:
            left.remove(found := next_file(left, tmp_path, seconds, number))
            taken += found[0]
        assert taken == order


def test_where_nothing_was_kept_the_longest_that_are_known_come_first() -> None:
    known = list(LONG)
    assert [file for file in known if not (ROOT / file).is_file()] == []
    sounding = [file for file in known if kind(str(ROOT / file)) == REAL_TIME]
    others = ["tests/lab/sim/test_called.py", *reversed(sounding)]
    assert next_file(others, ROOT, {}, 0) == max(sounding, key=LONG.__getitem__)
    assert next_file(others, ROOT, {others[0]: 999.0}, 0) == others[0]


def test_a_file_of_which_only_some_tests_ran_stays_long() -> None:
    kept = merged({"a": 100.0, "b": 1.0, "c": 5.0}, {"a": 2.0, "b": 4.0, "d": 1.0})
    assert kept == {"a": 90.0, "b": 4.0, "c": 5.0, "d": 1.0}


@pytest.mark.process
def test_the_last_workers_begin_with_the_pure_tier_and_give_way(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    count = BOX_WORKERS + 1
    names = [*(f"{number}_box" for number in range(2 * count - 1)), "y_pure", "z_pure"]
    for name in names:
        body = NOTES.format(name=name, notes=str(notes))
        (tmp_path / f"test_{name}.py").write_text((MARKED if "box" in name else "") + body)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\ncache_dir = {tmp_path / 'cache'}\n")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-c", tmp_path / "pytest.ini", "-p", "tests.tiers",
         "-p", "tests.lanes", "--basetemp", tmp_path / "temp", "-n", str(count),
         "--dist", "loadfile", "--no-loadscope-reorder", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    ran = {name: (where, int(nice)) for name, where, nice in map(str.split, notes.open())}
    assert set(ran) == set(names)
    last = f"gw{BOX_WORKERS}"
    lower = min(os.nice(0) + PURE_NICE, 19)
    assert {name for name, (where, _) in ran.items() if where == last} >= {"y_pure"}
    assert all(nice == (lower if where == last else os.nice(0)) for where, nice in ran.values())
    took = json.loads((tmp_path / "cache/v" / TOOK).read_text())
    assert set(took) == {f"test_{name}.py" for name in names}


def test_the_pure_tier_alone_has_a_worker_a_processor(request: pytest.FixtureRequest) -> None:
    assert workers("not process") == len(os.sched_getaffinity(0)) < workers("") == workers("slow")
    counted = request.config.hook.pytest_xdist_auto_num_workers(config=request.config)
    assert counted == workers(request.config.option.markexpr)
