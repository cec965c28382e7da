"""Descriptors of a forked part get the numbers that its wiring names."""

from __future__ import annotations

import os
import random

import pytest

from appliance.runtime.supervision.launcher_process import place

pytestmark = pytest.mark.process


@pytest.mark.parametrize("seed", range(40))
def test_every_descriptor_gets_its_number_whatever_the_order(seed: int) -> None:
    dice = random.Random(seed)
    count = dice.randint(1, 9)
    child = os.fork()
    if child == 0:  # a process of its own: the numbers may be in use here
        code = 1
        try:
            os.closerange(3, 64)
            pipes = [os.pipe() for _ in range(count)]
            reads = [read for read, _ in pipes]
            for at, (_, write) in enumerate(pipes):
                os.write(write, bytes([at]))
                os.close(write)
            numbers = dice.sample(range(3, 3 + 2 * count), count)
            place(list(reads), numbers)
            right = [os.read(number, 2) == bytes([at]) for at, number in enumerate(numbers)]
            open_fds = {fd for fd in range(3, 64) if _is_open(fd)}
            code = 0 if all(right) and open_fds == set(numbers) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
