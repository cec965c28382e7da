"""A pytest plugin: how `make test` spreads the test files over its workers (pytest-xdist).

Most tests that start programs wait more than they compute, and those on the software sound card
wait in real time. So there are four workers for two processors. Three of them begin with the files
that play sound in real time, then those that start other programs. The fourth begins with the pure
tier, at a lower priority, so that it uses the processor time that the others leave. Each
takes its longest file first, so that no long file is left for the end. The seconds that a file took
are kept from run to run in pytest's cache (.pytest_cache). Where nothing is kept, as in a fresh
clone, LONG has the seconds of the longest files.

The pure tier by itself has one worker for each processor: nothing in it waits. With
`--shuffle-files` (tests/shuffle.py) there are no lanes.
"""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadfile import LoadFileScheduling

from tests import shuffle
from tests.tiers import MARK

PROCESSORS = len(os.sched_getaffinity(0))
WORKERS = PROCESSORS * 2  # with a fifth for two the same tests take more processor time
BOX_WORKERS = max(2, PROCESSORS * 3 // 2)
PURE_NICE = 10  # of the workers beyond those
TOOK = "interlude/seconds"  # key in pytest's cache: test file → sum of its tests' seconds
FORGETS = 0.9  # factor by which a saved time shrinks when a run took less, as with some tests only
# A file that has one of these words plays sound in real time: the fixture of the software sound
# card, and the benches, most of which play on it.
SOUNDS = ("simcard_library", "lab.bench")
REAL_TIME, PROGRAMS, PURE = range(3)
# Approximate seconds of the longest files on two processors.
LONG = {
    "tests/lab/sim/test_rehearsal.py": 160, "tests/lab/sim/test_enrolment.py": 120,
    "tests/page/test_accessibility.py": 100, "tests/lab/sim/test_trials.py": 60,
    "tests/lab/bench/test_answer_full.py": 60, "tests/runtime/test_supervisor.py": 60,
    "tests/cli/test_command.py": 50, "tests/lab/sim/test_manners.py": 50,
    "tests/lab/bench/test_interruption_work.py": 50, "tests/voice/test_speaker.py": 50,
    "tests/lab/sim/test_modes.py": 45, "tests/lab/sim/test_second_thoughts.py": 40,
    "tests/lab/sim/test_restart.py": 40, "tests/page/test_try_browser.py": 40,
    "tests/update/release/test_power.py": 40, "tests/page/test_browser.py": 30,
    "tests/mqtt/test_link.py": 25, "tests/mqtt/test_whole_box.py": 25,
    "tests/lab/bench/test_stop.py": 25, "tests/voice/hibari/test_packed_tables.py": 30,
    "tests/runtime/supervision/test_systemd_notify.py": 30,
    "tests/hear/test_first_announcement.py": 25,
    "tests/hear/test_pipeline.py": 20, "tests/think/test_thinker.py": 20,
    "tests/voice/head/test_intelligibility.py": 20, "tests/page/test_settings_browser.py": 20,
}  # fmt: skip


def lane(worker: str) -> int:
    """0, 1, and so on, of a worker's name: `gw0`, `gw1`."""
    return int(worker.removeprefix("gw"))


@functools.cache
def kind(file: str) -> int:
    """REAL_TIME, PROGRAMS or PURE, by the file's text: the mark (tests/tiers.py) and SOUNDS.

    Only the workers collect tests; the scheduling process knows just the names of the files."""
    text = Path(file).read_text()
    if f"mark.{MARK}" not in text:
        return PURE
    return REAL_TIME if any(word in text for word in SOUNDS) else PROGRAMS


def next_file(files: list[str], root: Path, seconds: dict[str, float], number: int) -> str:
    """The file that the worker `number` runs next: the longest of the kind that it begins with; the
    first of several that are equally long or have no saved time."""
    turn = -1 if number >= BOX_WORKERS else 1
    folder = str(root)

    def rank(file: str) -> tuple[float, float]:
        return turn * kind(f"{folder}/{file}"), -seconds.get(file, LONG.get(file, 0.0))

    return min(files, key=rank)


def workers(marks: str) -> int:
    """The number of workers, by pytest's option -m."""
    return PROCESSORS if marks == f"not {MARK}" else WORKERS


class LaneScheduling(LoadFileScheduling):  # type: ignore[misc]  # no types are shipped with it
    """Assigns files in the order of `next_file`."""

    def _assign_work_unit(self, node: Any) -> None:
        seconds = self.config.stash[_KEPT]
        files, number = list(self.workqueue), lane(node.gateway.id)
        file = next_file(files, self.config.rootpath, seconds, number)
        self.workqueue.move_to_end(file, last=False)
        super()._assign_work_unit(node)


_KEPT = pytest.StashKey[dict[str, float]]()


def merged(kept: dict[str, float], took: dict[str, float]) -> dict[str, float]:
    """The seconds to save for the next run."""
    return kept | {
        file: round(max(seconds, FORGETS * kept.get(file, 0.0)), 2)
        for file, seconds in took.items()
    }


class Record:
    """Runs in the scheduling process: sums the seconds of each file's tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        cache = getattr(config, "cache", None)  # there is none with `-p no:cacheprovider`
        self._kept: dict[str, float] = cache.get(TOOK, {}) if cache is not None else {}
        self._took = defaultdict[str, float](float)
        config.stash[_KEPT] = self._kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._took[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self._config, "cache", None)
        if cache is not None:
            cache.set(TOOK, merged(self._kept, dict(self._took)))


@pytest.hookimpl(trylast=True)  # after pytest's cache was set up
def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", None)
    if worker is None:
        config.pluginmanager.register(Record(config), "lanes-record")
    elif lane(worker["workerid"]) >= BOX_WORKERS and shuffle.seed(config) is None:
        os.nice(PURE_NICE)


@pytest.hookimpl(optionalhook=True, tryfirst=True)  # before xdist's own implementation
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    return workers(config.option.markexpr)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LaneScheduling | None:
    by_file = config.getvalue("dist") == "loadfile" and shuffle.seed(config) is None
    return LaneScheduling(config, log) if by_file else None
