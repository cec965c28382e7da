"""Simulated time: timers fire in order at their own times, and nothing waits."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from lab.peers.simulated_time import BEGAN_S, SimulatedLoop
from tests.programs import ROOT


@pytest.fixture
def loop() -> Iterator[SimulatedLoop]:
    made = SimulatedLoop()
    yield made
    made.close()


def test_timers_run_at_their_own_times_up_to_the_given_one(loop: SimulatedLoop) -> None:
    fired: list[tuple[str, float]] = []

    def note(name: str) -> None:
        fired.append((name, loop.time() - BEGAN_S))

    for name, after_s in (("late", 3.0), ("early", 1.0), ("at the end", 2.0)):
        loop.call_later(after_s, note, name)
    loop.run_to(BEGAN_S + 2.0)
    assert fired == [("early", 1.0), ("at the end", 2.0)]
    assert loop.time() == BEGAN_S + 2.0
    loop.run_to(BEGAN_S + 2.5)
    assert len(fired) == 2
    loop.run_to(BEGAN_S + 4.0)
    assert fired[2] == ("late", 3.0)


def test_an_hour_of_sleep_takes_no_time(loop: SimulatedLoop) -> None:
    woken: list[float] = []

    async def sleep() -> None:
        for _ in range(60):
            await asyncio.sleep(60)
            woken.append(loop.time() - BEGAN_S)

    loop.start(sleep())
    began_s = time.monotonic()
    loop.run_to(BEGAN_S + 3600)
    assert time.monotonic() - began_s < 60
    assert woken == pytest.approx([60.0 * n for n in range(1, 61)])


def test_time_does_not_go_back(loop: SimulatedLoop) -> None:
    loop.run_to(BEGAN_S + 1)
    loop.run_to(BEGAN_S)
    assert loop.time() == BEGAN_S + 1


def test_an_executor_runs_inline_and_hands_on_errors(loop: SimulatedLoop) -> None:
    seen: list[object] = []

    async def work() -> None:
        seen.append(await loop.run_in_executor(None, divmod, 7, 2))
        try:
            await loop.run_in_executor(None, divmod, 7, 0)
        except ZeroDivisionError as error:
            seen.append(type(error))

    loop.start(work())
    loop.run_to(BEGAN_S)
    assert seen == [(3, 1), ZeroDivisionError]


def test_a_device_blocks_its_caller_in_simulated_time(loop: SimulatedLoop) -> None:
    done_at: list[float] = []

    def write() -> asyncio.Future[None]:
        future: asyncio.Future[None] = loop.create_future()
        loop.call_later(0.04, future.set_result, None)
        return future

    async def play() -> None:
        await loop.run_in_executor(None, write)
        done_at.append(loop.time() - BEGAN_S)

    loop.start(play())
    loop.run_to(BEGAN_S + 1)
    assert done_at == pytest.approx([0.04])


def test_a_callback_of_another_thread_is_run(loop: SimulatedLoop) -> None:
    called: list[int] = []
    loop.call_soon_threadsafe(called.append, 1)
    loop.run_to(BEGAN_S)
    assert called == [1]


@pytest.mark.process
def test_the_clocks_of_a_process_follow_the_loop() -> None:
    program = (
        "import time\n"
        "from lab.peers.simulated_time import SimulatedLoop, replace_clocks\n"
        "loop = SimulatedLoop()\n"
        "replace_clocks(loop)\n"
        "before = time.time(), time.monotonic_ns(), time.perf_counter()\n"
        "loop.run_to(loop.time() + 90)\n"
        "after = time.time(), time.monotonic_ns(), time.perf_counter()\n"
        "print([b - a for a, b in zip(before, after)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          cwd=ROOT, check=True)  # fmt: skip
    assert done.stdout == "[90.0, 90000000000, 90.0]\n"
