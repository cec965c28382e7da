"""`--shuffle-files` changes the order of the test files, by its seed alone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.programs import ROOT
from tests.shuffle import places

NAMES = "abcdefghi"
FILES = [f"test_{name}.py" for name in NAMES]
NOTES = """
import os, pytest

def note(*words):
    with open({notes!r}, "a") as file:
        print(*words, os.environ.get("PYTEST_XDIST_WORKER"), file=file)

def test_one(): note({name!r})

@pytest.mark.process
def test_two(): note({name!r})
"""


def order(seed: int, files: list[str] = FILES) -> list[str]:
    found = places(files, seed)
    return sorted(found, key=found.__getitem__)


def test_the_seed_alone_decides_the_order() -> None:
    assert order(3) == order(3, [*reversed(FILES), *FILES])
    assert sorted(order(3)) == FILES
    assert len({tuple(order(seed)) for seed in range(10)}) == 10


def run(folder: Path, *options: str, last: str = "") -> tuple[list[list[str]], str]:
    """Run nine files of two tests; `last`: a further test of the last. Returns the words of each
    note, and what pytest prints."""
    notes = folder / "notes"
    notes.write_text("")
    for name in NAMES:
        body = NOTES.format(name=name, notes=str(notes)) + (last if name == NAMES[-1] else "")
        (folder / f"test_{name}.py").write_text(body)
    (folder / "pytest.ini").write_text(f"[pytest]\ncache_dir = {folder / 'cache'}\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", folder / "pytest.ini", "-p", "tests.tiers",
         "-p", "tests.shuffle", "-p", "tests.lanes", "--basetemp", folder / "temp", *options,
         folder],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return [line.split() for line in notes.read_text().splitlines()], done.stdout


@pytest.mark.process
def test_each_file_runs_as_a_whole_at_its_place(tmp_path: Path) -> None:
    runs = [
        [name for name, _ in run(tmp_path, "-n", "0", f"--shuffle-files={seed}")[0]]
        for seed in (1, 1, 2)
    ]
    first, same, other = runs
    assert first == same != other
    for names in (first, other):
        assert names[::2] == names[1::2]
        assert sorted(names[::2]) == sorted(set(names))
        assert names != sorted(names)


@pytest.mark.process
def test_the_workers_take_the_files_in_the_shuffled_order_without_lanes(tmp_path: Path) -> None:
    for seed in (1, 2):
        notes, printed = run(tmp_path, "-n", "2", "--dist", "loadfile", f"--shuffle-files={seed}")
        assert " 18 passed in " in printed
        place, taken = places(FILES, seed), defaultdict[str, list[int]](list)
        for name, worker in notes:
            taken[worker].append(place[f"test_{name}.py"])
        assert set(taken) == {"gw0", "gw1"}
        assert all(found == sorted(found) for found in taken.values())


@pytest.mark.process
def test_a_failure_names_the_files_before_it(tmp_path: Path) -> None:
    failing = "def test_three(): assert False"
    notes, printed = run(tmp_path, "-n", "0", "--shuffle-files=3", last=failing)
    order = list(dict.fromkeys(f"test_{name}.py" for name, _ in notes))
    before = order[: order.index(FILES[-1]) + 1]
    assert len(before) > 1
    assert re.search(rf"^-+ files of this process so far -+\n{' '.join(before)}$", printed, re.M)
