"""The comparison of two ways of reading, and the neighbour process that loads a core."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lab.bench.model_reading import NEIGHBOURS, differing, neighbour


@pytest.mark.parametrize(
    ("first", "second", "bytes_"),
    [([1.0, 2.0], [1.0, 2.0], 0), ([0.0], [-0.0], 1), ([1.0, 2.0], [1.0], 8), ([], [], 0)],
)
def test_differing_counts_the_bytes_that_differ(
    first: list[float], second: list[float], bytes_: int
) -> None:
    assert differing(np.array(first, np.float32), np.array(second, np.float32)) == bytes_


def children() -> set[int]:
    found = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


@pytest.mark.process
@pytest.mark.parametrize("nice", NEIGHBOURS.values())
def test_a_neighbour_process_has_its_priority_and_is_ended_afterwards(nice: int | None) -> None:
    before = children()
    with neighbour(nice):
        new = children() - before
        assert len(new) == (nice is not None)
        for pid in new:
            assert os.getpriority(os.PRIO_PROCESS, pid) == min(
                19, os.getpriority(os.PRIO_PROCESS, 0) + (nice or 0)
            )
    assert children() == before


@pytest.mark.process
def test_a_neighbour_process_ends_when_its_bench_is_killed() -> None:
    bench = (
        "import signal\n"
        "from lab.bench.model_reading import neighbour\n"
        "from tests.lab.bench.test_model_reading import children\n"
        "with neighbour(0):\n"
        "    print(*children(), flush=True)\n"
        "    signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", bench], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        descriptor = os.pidfd_open(int(run.stdout.readline()))
        run.kill()
    ended, _, _ = select.select([descriptor], [], [], 20)
    os.close(descriptor)
    assert ended
