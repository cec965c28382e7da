"""A pytest plugin: how `make test` spreads the test files over its workers (pytest-xdist).

Tests that start programs mostly wait, and those with sound wait in real time. Two workers begin
with these files, so that a box has the processor that it was seen to need. Each further worker
begins with the pure tier, at a lower priority, and so uses what the two leave of the processor.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadfile import LoadFileScheduling

from tests.tiers import MARK

BOX_WORKERS = 2
PURE_NICE = 10  # of the workers beyond those


def lane(worker: str) -> int:
    """0, 1, and so on, of a worker's name: `gw0`, `gw1`."""
    return int(worker.removeprefix("gw"))


@functools.cache
def starts_programs(file: Path) -> bool:
    """Whether one of its tests does: whether the text has the mark (tests/tiers.py).

    Only the workers collect tests; the process that spreads them knows the files' names alone."""
    return f"mark.{MARK}" in file.read_text()


class LaneScheduling(LoadFileScheduling):  # type: ignore[misc]  # no types are shipped with it
    """Files in the order of collection, where those that start programs come first."""

    def _assign_work_unit(self, node: Any) -> None:
        if lane(node.gateway.id) >= BOX_WORKERS:
            root = self.config.rootpath
            for file in self.workqueue:
                if not starts_programs(root / file):
                    self.workqueue.move_to_end(file, last=False)
                    break
        super()._assign_work_unit(node)


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", None)
    if worker is not None and lane(worker["workerid"]) >= BOX_WORKERS:
        os.nice(PURE_NICE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LaneScheduling | None:
    return LaneScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
