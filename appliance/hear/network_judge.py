"""Asks a network about a sound on a thread of its own, beside live sound.

In: questions, each a sound. Out: answers, once they are complete. The audio path's thread never
waits: it queues a question and polls for the answer at each later block.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar

import numpy as np

from appliance.pcm import RATE_HZ, Samples

_WARM_UP = np.zeros(RATE_HZ, np.int16)  # the first inference allocates the buffers
_CLOSE_S = 2.0  # timeout; a question takes tens of ms, and more on a busy machine

OpinionT = TypeVar("OpinionT")


@dataclass(frozen=True, slots=True)
class NetworkAnswer(Generic[OpinionT]):
    """Answer to question `number`: the network's opinion; None: it failed."""

    number: int
    opinion: OpinionT | None
    took_ms: float


class NetworkJudge(Protocol[OpinionT]):
    """Accepts questions without blocking and returns the answers that are complete."""

    def ask(self, number: int, samples: Samples) -> None:
        """Judge int16 `samples` at 16 kHz. Older questions are dropped."""

    def pop_answer(self) -> NetworkAnswer[OpinionT] | None:
        """Remove and return the oldest answer; None if there is none."""


class DirectJudge(Generic[OpinionT]):
    """Runs the network within `ask`, without a thread: for benches and tests."""

    def __init__(self, network: Callable[[Samples], OpinionT]) -> None:
        self._network = network
        self._answers: list[NetworkAnswer[OpinionT]] = []

    def ask(self, number: int, samples: Samples) -> None:
        self._answers.append(_answer(self._network, number, samples))

    def pop_answer(self) -> NetworkAnswer[OpinionT] | None:
        return self._answers.pop(0) if self._answers else None


class BackgroundJudge(Generic[OpinionT]):
    """Runs the network on a daemon thread with normal scheduling, whatever that of its process is.
    Under FIFO a question of tens of ms would block everything else on its core. numpy's loops and
    the network release the interpreter lock."""

    def __init__(self, network: Callable[[Samples], OpinionT], name: str) -> None:
        """`network`: its opinion of int16 samples at 16 kHz. `name`: of the thread."""
        self._network = network
        self._questions: SimpleQueue[tuple[int, Samples] | None] = SimpleQueue()
        self._answers: SimpleQueue[NetworkAnswer[OpinionT]] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def ask(self, number: int, samples: Samples) -> None:
        self._questions.put((number, samples))

    def pop_answer(self) -> NetworkAnswer[OpinionT] | None:
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
        self._network(_WARM_UP)
        while (question := self._questions.get()) is not None:
            if self._questions.empty():  # else a newer question makes this one obsolete
                self._answers.put(_answer(self._network, *question))


def _answer(
    network: Callable[[Samples], OpinionT], number: int, samples: Samples
) -> NetworkAnswer[OpinionT]:
    began_ns = time.perf_counter_ns()
    try:
        opinion = network(samples)
    except Exception:  # noqa: BLE001 -- onnxruntime's have no common base; the caller decides without it
        opinion = None
    return NetworkAnswer(number, opinion, (time.perf_counter_ns() - began_ns) / 1e6)
