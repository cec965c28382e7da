"""Measures the cost of judging the end of a turn: one question, and the listener's lateness."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

import numpy as np

from appliance.hear.network_judge import BackgroundJudge
from appliance.hear.pipeline import HearingPipeline
from appliance.hear.turn.log_mel import WINDOW_FRAMES
from appliance.hear.turn.turn_network import TurnNetwork
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.runtime.process_table import row
from appliance.settings import HearingSettings
from lab.bench.benches import SPREAD, FigureTable, spread

QUESTIONS = 40
_BLOCK_S = BLOCK_FRAMES / RATE_HZ
_BLOCKS_A_QUESTION = 60  # 300 ms


def question_cost(sounds: list[Samples], network: TurnNetwork) -> tuple[FigureTable, float]:
    """The table of one question's time on this machine, and its median CPU time in ms, which is its
    wall time on an idle core."""
    wall, cpu = [], []
    for sound in sounds[:QUESTIONS]:
        began_s, cpu_s = time.perf_counter(), time.thread_time()
        network.probability(sound)
        wall.append(1000 * (time.perf_counter() - began_s))
        cpu.append(1000 * (time.thread_time() - cpu_s))
    sheet = FigureTable("One question, ms, on one thread", ("", *SPREAD))
    sheet.rows.append(("wall", *spread(wall)))
    sheet.rows.append(("CPU", *spread(cpu)))
    return sheet, float(np.median(cpu))


def beside_live_sound(
    settings: HearingSettings, network: TurnNetwork, questions: int = QUESTIONS
) -> FigureTable:
    """How late the listener's blocks of 5 ms are while a question is computed on the same core."""
    sheet = FigureTable(
        "A block of 5 ms: due → heard, ms, on one core with the judge's thread", ("", *SPREAD)
    )
    with _as_the_listener() as scheduling:
        for name, judge in (("nobody is asked", None), ("asked each 300 ms", network)):
            sheet.rows.append((name, *spread(_lateness_ms(settings, judge, questions), 2)))
    sheet.notes.append(f"In this process, {scheduling}. The ring `mic` holds 2.6 s.")
    return sheet


def _lateness_ms(
    settings: HearingSettings, network: TurnNetwork | None, questions: int
) -> list[float]:
    judge = BackgroundJudge(network.probability, "turn") if network is not None else None
    hearing = HearingPipeline(settings)
    rng = np.random.default_rng(1)
    sound = rng.normal(0, 300, WINDOW_FRAMES).astype(np.int16)
    silence = np.zeros(BLOCK_FRAMES, np.int16)
    late_ms = []
    due_s = time.monotonic() + _BLOCK_S
    for block in range(questions * _BLOCKS_A_QUESTION // 2):
        time.sleep(max(0.0, due_s - time.monotonic()))
        if judge is not None and block % _BLOCKS_A_QUESTION == 0:
            judge.ask(block, sound)
        at = block * BLOCK_FRAMES
        hearing.process(sound[at % 64_000 : at % 64_000 + BLOCK_FRAMES], silence, at)
        late_ms.append(1000 * (time.monotonic() - due_s))
        due_s += _BLOCK_S
    if judge is not None:
        judge.close()
    return late_ms


@contextlib.contextmanager
def _as_the_listener() -> Iterator[str]:
    """Run this thread on one core, and with the listener's scheduling if that is permitted."""
    cores, scheduling = os.sched_getaffinity(0), os.sched_getscheduler(0)
    os.sched_setaffinity(0, {max(cores)})
    description = "with normal scheduling"
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(row("listener").priority))
        description = "scheduled as the listener is (FIFO)"
    try:
        yield description
    finally:
        os.sched_setscheduler(0, scheduling, os.sched_param(0))
        os.sched_setaffinity(0, cores)
