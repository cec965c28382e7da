"""A pytest plugin: how `make test` spreads the test files over its workers (pytest-xdist).

Tests that start programs mostly wait, and those on the software sound card wait in real time. So
there are more workers than processors. Three for two processors are for programs, and begin with
what sounds in real time. The others begin with the pure tier, at a lower priority, and so use what
programs leave of the processors. Each takes the longest file first, so that none is left for the
end; how long each took is kept from run to run in pytest's cache (.pytest_cache). Where nothing was
kept, as in a fresh clone, LONG says it of the longest.

The pure tier by itself has as many workers as processors: nothing in it waits.
"""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadfile import LoadFileScheduling

from tests.tiers import MARK

PROCESSORS = len(os.sched_getaffinity(0))
WORKERS = PROCESSORS * 5 // 2
BOX_WORKERS = max(2, PROCESSORS * 3 // 2)
PURE_NICE = 10  # of the workers beyond those
TOOK = "interlude/seconds"  # pytest's cache: test file → seconds of its tests, one after the other
FORGETS = 0.9  # of a file's seconds are kept when fewer were taken, as where only some tests ran
# Words of a file whose tests sound in real time: the fixture of the software sound card, and the
# benches, most of which play on it.
SOUNDS = ("simcard_library", "lab.bench")
REAL_TIME, PROGRAMS, PURE = range(3)
# About how many seconds the longest files take on two processors.
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
    "tests/lab/bench/test_stop.py": 25, "tests/hear/test_first_announcement.py": 25,
    "tests/hear/test_pipeline.py": 20, "tests/think/test_thinker.py": 20,
    "tests/voice/head/test_intelligibility.py": 20, "tests/page/test_settings_browser.py": 20,
}  # fmt: skip


def lane(worker: str) -> int:
    """0, 1, and so on, of a worker's name: `gw0`, `gw1`."""
    return int(worker.removeprefix("gw"))


@functools.cache
def kind(file: Path) -> int:
    """REAL_TIME, PROGRAMS or PURE, by the file's text: the mark (tests/tiers.py) and SOUNDS.

    Only the workers collect tests; the process that spreads them knows the files' names alone."""
    text = file.read_text()
    if f"mark.{MARK}" not in text:
        return PURE
    return REAL_TIME if any(word in text for word in SOUNDS) else PROGRAMS


def next_file(files: list[str], root: Path, seconds: dict[str, float], number: int) -> str:
    """Which of `files` the worker of that lane takes: the longest of the kind that it begins with.
    Of files that take equally long, or were never seen, the first."""
    turn = -1 if number >= BOX_WORKERS else 1

    def rank(file: str) -> tuple[float, float]:
        return turn * kind(root / file), -seconds.get(file, LONG.get(file, 0.0))

    return min(files, key=rank)


def workers(marks: str) -> int:
    """How many, by pytest's option -m."""
    return PROCESSORS if marks == f"not {MARK}" else WORKERS


class LaneScheduling(LoadFileScheduling):  # type: ignore[misc]  # no types are shipped with it
    """Files as `next_file` has them."""

    def _assign_work_unit(self, node: Any) -> None:
        seconds = self.config.stash[_KEPT]
        files, number = list(self.workqueue), lane(node.gateway.id)
        file = next_file(files, self.config.rootpath, seconds, number)
        self.workqueue.move_to_end(file, last=False)
        super()._assign_work_unit(node)


_KEPT = pytest.StashKey[dict[str, float]]()


def merged(kept: dict[str, float], took: dict[str, float]) -> dict[str, float]:
    """What is kept for the next run."""
    return kept | {
        file: round(max(seconds, FORGETS * kept.get(file, 0.0)), 2)
        for file, seconds in took.items()
    }


class Record:
    """Of the process that spreads the files: adds up what the workers' tests took."""

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


@pytest.hookimpl(trylast=True)  # pytest's own cache is there by then
def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", None)
    if worker is None:
        config.pluginmanager.register(Record(config), "lanes-record")
    elif lane(worker["workerid"]) >= BOX_WORKERS:
        os.nice(PURE_NICE)


@pytest.hookimpl(optionalhook=True, tryfirst=True)  # xdist has an answer of its own
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    return workers(config.option.markexpr)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LaneScheduling | None:
    return LaneScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
