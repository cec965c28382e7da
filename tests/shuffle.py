"""A pytest plugin: `--shuffle-files=SEED` runs the test files in another order.

The same seed gives the same order of the same files. With several workers (pytest-xdist) each takes
the next file when it has finished one, so that the seed decides which files share a process, and
with `-n 0` alone it decides everything. A failure names the files that ran before it in the same
process. `scripts/shuffled.sh` has ten seeds.
"""

from __future__ import annotations

import random
from collections.abc import Generator

import pytest

OPTION = "--shuffle-files"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, type=int, metavar="SEED", help="run the test files in another order")


def seed(config: pytest.Config) -> int | None:
    """The seed of this run, if it has one."""
    found: int | None = config.getoption(OPTION, None)
    return found


def places(files: list[str], seed: int) -> dict[str, int]:
    """The place of each file in the order of `seed`; that of the collection does not matter."""
    shuffled = sorted(set(files))
    random.Random(seed).shuffle(shuffled)
    return {file: place for place, file in enumerate(shuffled)}


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def pytest_configure(config: pytest.Config) -> None:
    if seed(config) is not None:
        config.option.loadscopereorder = False  # xdist would sort the files by their tests
        config.pluginmanager.register(Before(), "shuffle-before")


@pytest.hookimpl(trylast=True)  # after tests/tiers.py, whose order remains within a file
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    number = seed(config)
    if number is not None:
        place = places([file_of(item) for item in items], number)
        items.sort(key=lambda item: place[file_of(item)])


class Before:
    """Adds to each failure the files that ran in this process so far."""

    def __init__(self) -> None:
        self._files: dict[str, None] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        self._files[file_of(item)] = None
        if report.failed:
            report.sections.append(("files of this process so far", " ".join(self._files)))
        return report
