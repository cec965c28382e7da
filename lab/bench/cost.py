"""`interlude bench cost`: CPU and memory of each process while the box idles, listens, speaks."""

from __future__ import annotations

import time

import numpy as np
import psutil

from appliance.pcm import RATE_HZ
from appliance.runtime.process_table import row
from lab.bench.benches import BenchOptions, FigureTable
from lab.bench.harness import ECHO, TALK, WITHOUT_THINKER, BenchHarness
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.script_sounds import make
from lab.sim.speech_source import OwnerSound

EVENTS = 15  # seconds in each state
REFLEX = ("capture", "playback", "listener")  # together at most 15 % of a core while speaking


def bench(options: BenchOptions) -> list[FigureTable]:
    """Measure three states, `events` seconds each, in a quiet room with an echo of −30 dBFS."""
    seconds = options.events or EVENTS
    shares: dict[str, dict[str, float]] = {}  # state → process → % of one core
    memory: dict[str, float] = {}
    dropouts: dict[str, int] = {}

    def act(stage: BenchHarness) -> None:
        shares["idle"] = _measure(stage, seconds)
        stage.add_sound(
            stage.card.now() + RATE_HZ, _owner(seconds + 2)
        )  # scheduled 1 s ahead, as copying it takes time
        stage.wait(2.0)
        shares["listening"] = _measure(stage, seconds)
        stage.wait_until(stage.settled, 40.0)
        stage.start_talking()
        stage.wait(1.0)
        shares["speaking"] = _measure(stage, seconds)
        for name in stage.supervisor.parts:
            memory[name] = psutil.Process(stage.pid(name)).memory_info().rss / 2**20
        dropouts.update(stage.dropouts)

    BenchHarness(ECHO, options.settings, act, parts=(*WITHOUT_THINKER, "words")).play()
    return [sheet(shares, memory, dropouts, seconds)]


def _owner(seconds: float) -> OwnerSound:
    """`seconds` of continuous speech of the owner."""
    speech = make(Scene(name="bench"), ScriptedUtterance(say=TALK)).samples
    return OwnerSound(np.resize(speech, round(seconds * RATE_HZ)), 0, len(speech))


def _measure(stage: BenchHarness, seconds: float) -> dict[str, float]:
    """The CPU use of each process over `seconds`, in % of one core."""
    processes = {name: psutil.Process(stage.pid(name)) for name in stage.supervisor.parts}
    before = {name: _cpu_s(process) for name, process in processes.items()}
    started = time.monotonic()
    stage.wait(seconds)
    elapsed_s = time.monotonic() - started
    return {
        name: 100 * (_cpu_s(process) - before[name]) / elapsed_s
        for name, process in processes.items()
    }


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def sheet(
    shares: dict[str, dict[str, float]],
    memory: dict[str, float],
    dropouts: dict[str, int],
    seconds: float,
) -> FigureTable:
    columns = ("% of one core", *shares, "budget", "MiB", "budget")
    table = FigureTable("Cost of each process", columns)
    for name, mib in memory.items():
        budget = row(name)
        table.rows.append((name, *(round(state[name], 1) for state in shares.values()),
                           round(100 * budget.cpu_share), round(mib),
                           budget.memory_mib))  # fmt: skip
    reflex = [round(sum(state[name] for name in REFLEX), 1) for state in shares.values()]
    table.rows.append((" + ".join(REFLEX), *reflex, 15, "", ""))
    table.notes.append(
        f"{seconds:g} s in each state, at {RATE_HZ} Hz, with an echo of −30 dBFS, without the "
        f"thinker. Dropouts: {dropouts['capture']} of capture, {dropouts['playback']} of playback."
    )
    return table
