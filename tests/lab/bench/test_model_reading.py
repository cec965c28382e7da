"""Reading two ways, and beside a neighbour: that a difference would show, and nobody stays."""

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
    ("one", "other", "bytes_"),
    [([1.0, 2.0], [1.0, 2.0], 0), ([0.0], [-0.0], 1), ([1.0, 2.0], [1.0], 8), ([], [], 0)],
)
def test_two_ways_differ_in_so_many_bytes(
    one: list[float], other: list[float], bytes_: int
) -> None:
    assert differing(np.array(one, np.float32), np.array(other, np.float32)) == bytes_


def children() -> set[int]:
    found = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


@pytest.mark.process
@pytest.mark.parametrize("nice", NEIGHBOURS.values())
def test_a_neighbour_computes_at_its_priority_and_is_gone_afterwards(nice: int | None) -> None:
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
def test_a_neighbour_whose_bench_was_killed_ends_by_itself() -> None:
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
