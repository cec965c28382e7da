"""Judges the end of a turn: runs the network on a thread of its own, beside live sound.

In: questions, each a sound that ends in a pause. Out: answers, once they are complete. The audio
path's thread never waits: it queues a question and polls for the answer at each later block.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol

import numpy as np

from appliance.errors import ModelError
from appliance.hear.turn.turn_network import MODEL, TurnNetwork
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import TurnSettings

_WARM_UP = np.zeros(RATE_HZ, np.int16)  # the first inference allocates the buffers
_CLOSE_S = 2.0  # timeout; a question takes tens of ms, and more on a busy machine


@dataclass(frozen=True, slots=True)
class TurnAnswer:
    """Answer to question `number`: probability that the turn is over; None: the network failed."""

    number: int
    probability: float | None
    took_ms: float


class TurnJudge(Protocol):
    """Accepts questions without blocking and returns the answers that are complete."""

    def ask(self, number: int, samples: Samples) -> None:
        """Judge int16 `samples` (16 kHz, up to the newest). Older questions are dropped."""

    def pop_answer(self) -> TurnAnswer | None:
        """Remove and return the oldest answer; None if there is none."""


class DirectJudge:
    """Runs the network within `ask`, without a thread: for benches and tests."""

    def __init__(self, network: TurnNetwork) -> None:
        self._network = network
        self._answers: list[TurnAnswer] = []

    def ask(self, number: int, samples: Samples) -> None:
        self._answers.append(_answer(self._network, number, samples))

    def pop_answer(self) -> TurnAnswer | None:
        return self._answers.pop(0) if self._answers else None


class BackgroundJudge:
    """Runs the network on a daemon thread with normal scheduling, whatever that of its process is.
    Under FIFO a question of tens of ms would block everything else on its core. numpy's loops and
    the network release the interpreter lock."""

    def __init__(self, network: TurnNetwork) -> None:
        self._network = network
        self._questions: SimpleQueue[tuple[int, Samples] | None] = SimpleQueue()
        self._answers: SimpleQueue[TurnAnswer] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="turn", daemon=True)
        self._thread.start()

    def ask(self, number: int, samples: Samples) -> None:
        self._questions.put((number, samples))

    def pop_answer(self) -> TurnAnswer | None:
        try:
            return self._answers.get_nowait()
        except Empty:
            return None

    def close(self) -> None:
        """End the thread after its present question: the interpreter would abort if it exited
        while native code runs."""
        self._questions.put(None)
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_OTHER, os.sched_param(0))
        self._network.probability(_WARM_UP)
        while (question := self._questions.get()) is not None:
            if self._questions.empty():  # else a newer question makes this one obsolete
                self._answers.put(_answer(self._network, *question))


def make_judge(
    settings: TurnSettings, log: logging.Logger, model: Path = MODEL
) -> BackgroundJudge | None:
    """The judge that the settings choose. None if silence decides; the log says why."""
    if settings.judge == "none":
        log.info("a turn ends after %d ms of silence: hearing.turn.judge is none", settings.end_ms)
        return None
    try:
        network = TurnNetwork(model)
    except ModelError as error:
        log.warning("a turn ends after %d ms of silence: %s", settings.end_ms, error)
        return None
    return BackgroundJudge(network)


def _answer(network: TurnNetwork, number: int, samples: Samples) -> TurnAnswer:
    began_ns = time.perf_counter_ns()
    try:
        probability = network.probability(samples)
    except Exception:  # noqa: BLE001 -- onnxruntime's have no common base; silence decides instead
        probability = None
    return TurnAnswer(number, probability, (time.perf_counter_ns() - began_ns) / 1e6)
