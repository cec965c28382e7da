"""Passes the conductor's requests to the memory writer, and its results back.

In: the actions that concern the memory. Out: Recall for the thinker, events for the state machine,
and replies to clients of the control socket. Nothing here waits for the disk.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from appliance.dialog.actions import EraseMemory, Remember, SendRecall
from appliance.dialog.memory import RememberedTurn
from appliance.dialog.memory_writer import ForgetResult, MemoryHealth, MemoryWriter, TurnsRecalled
from appliance.messages.commands import Forgotten, Say
from appliance.messages.limits import MAX_LINE
from appliance.messages.thinking import RECALL_TIMES, Recall, Transcribed
from appliance.runtime import factory_reset, memory_files, status
from appliance.settings import Settings

MOST_STARTED = 64  # turns that may still get a transcript: more than a thinker keeps the sound of
SLOW_S = 8.0  # then the owner is told that erasing takes longer; a healthy card needs less than 1 s


@dataclass
class _ForgetOrder:
    """An order to forget without a result yet. `slow_announced`: that it takes long."""

    action: EraseMemory
    at_s: float
    client: int | None
    slow_announced: bool = False


class MemoryClient:
    """The conductor's access to the memory. `client`: the serial number of the control socket's
    client whose command is being carried out; None: it did not come from there."""

    def __init__(self, settings: Settings, log: logging.Logger, say: Callable[[str], str]) -> None:
        """`say`: returns the sentence of a key in the dialogue's current language."""
        self._say = say
        memory = settings.memory
        self._log = log
        self._recall_turns = RECALL_TIMES * memory.recall_turns
        self._writer = MemoryWriter(memory_files.path(settings), memory.keep_turns, status.folder())
        self._reset_notice = factory_reset.to_say(settings.state_path())
        self._forget_orders: dict[int, _ForgetOrder] = {}  # by the memory writer's number
        self._started: dict[int, str] = {}  # of the newest turns that are remembered, by number
        self.client: int | None = None
        self.replies: list[tuple[int, Forgotten]] = []  # to clients of the control socket

    def fileno(self) -> int:
        """Readable when `poll` has results."""
        return self._writer.fileno()

    def carry_out(self, action: Remember | SendRecall | EraseMemory, model: str) -> None:
        """Start an action. `model`: the model that answered."""
        match action:
            case Remember():
                self._remember(_remembered_turn(action, model))
            case SendRecall():
                self._writer.recall(self._recall_turns)
            case EraseMemory(last, _, chosen):
                number = self._writer.forget(last=last, chosen=chosen)
                self._forget_orders[number] = _ForgetOrder(action, time.monotonic(), self.client)

    def transcribed(self, news: Transcribed) -> None:
        """Store a transcript with its turn, if that is remembered; it is sent nowhere else."""
        if started := self._started.pop(news.turn, ""):
            self._writer.transcribe(started, news.turn, news.text)

    def _remember(self, turn: RememberedTurn) -> None:
        self._writer.remember(turn)
        self._started[turn.turn] = turn.started
        while len(self._started) > MOST_STARTED:
            del self._started[next(iter(self._started))]

    def poll(self, now_s: float) -> Iterator[Recall | Forgotten | Say]:
        """New results: a Recall is for the thinker, the others are for the state machine."""
        for item in self._writer.pop_news():
            match item:
                case TurnsRecalled(turns):
                    yield Recall.newest((turn.asked, turn.transcript, turn.heard) for turn in turns)
                case ForgetResult():
                    yield self._finish_order(item)
                case MemoryHealth(well, text, set_aside):
                    fine = well and not set_aside
                    self._log.log(logging.INFO if fine else logging.WARNING, "%s", text)
                    if set_aside:
                        yield Say(self._say("memory-damaged"))
        if self._reset_notice:
            yield Say(self._say(self._reset_notice))
            self._reset_notice = ""
        if self._slow(now_s):
            yield Say(self._say("forget-slow"))

    def close(self) -> None:
        self._writer.close()

    def _finish_order(self, news: ForgetResult) -> Forgotten:
        if news.problem:
            self._log.error("not forgotten: %s", news.problem)
        problem = news.problem[:MAX_LINE]
        order = self._forget_orders.pop(news.number, None)
        if order is None:  # it failed before, or is from an earlier start
            return Forgotten(problem=problem, late=news.late)
        action = order.action
        forgotten = Forgotten(action.last, action.aloud, problem, news.late)
        if order.client is not None:
            self.replies.append((order.client, forgotten))
        return forgotten

    def _slow(self, now_s: float) -> bool:
        """Whether an order whose result is spoken has become slow; true once for each order."""
        slow = [
            order
            for order in self._forget_orders.values()
            if order.action.aloud and not order.slow_announced and now_s - order.at_s >= SLOW_S
        ]
        for order in slow:
            order.slow_announced = True
        return bool(slow)


def _remembered_turn(action: Remember, model: str) -> RememberedTurn:
    age = timedelta(seconds=time.monotonic() - action.asked_at_s)
    started = (datetime.now().astimezone() - age).isoformat(timespec="seconds")
    return RememberedTurn(
        started, action.turn, action.asked, action.seconds, action.heard, action.complete, model
    )
