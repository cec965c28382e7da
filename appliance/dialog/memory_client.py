"""Requests to keep and to forget, between the conductor and its memory writer.

In: the actions that concern the memory. Out: what there is to tell of them, to the thinker, to
the conversation and to a shell that asked. Nothing here waits for the disk.
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

MOST_STARTED = 64  # turns whose transcript may still come: more than a thinker holds the sound of
SLOW_S = 8.0  # a healthy card takes less than one; who asked is told that it takes longer


@dataclass
class _ForgetOrder:
    """An order to forget that the disk has not answered yet. `told`: that it is slow."""

    wanted: EraseMemory
    at_s: float
    client: int | None
    told: bool = False


class MemoryClient:
    """`client`: the serial number, at the control socket, of whose command is being carried out;
    None: it came another way."""

    def __init__(self, settings: Settings, log: logging.Logger, say: Callable[[str], str]) -> None:
        """`say`: the sentence of a key, in the language that the box speaks at that moment."""
        self._say = say
        keep = settings.memory
        self._log = log
        self._recall_turns = RECALL_TIMES * keep.recall_turns
        self._writer = MemoryWriter(memory_files.path(settings), keep.keep_turns, status.folder())
        self._at_first = factory_reset.to_say(settings.state_path())
        self._forget_orders: dict[int, _ForgetOrder] = {}  # by the memory writer's number
        self._started: dict[int, str] = {}  # of the newest turns that are remembered, by number
        self.client: int | None = None
        self.replies: list[tuple[int, Forgotten]] = []  # to clients of the control socket

    def fileno(self) -> int:
        """Readable when there is something to tell."""
        return self._writer.fileno()

    def carry_out(self, action: Remember | SendRecall | EraseMemory, model: str) -> None:
        """`model`: the one that answered."""
        match action:
            case Remember():
                self._remember(_turn(action, model))
            case SendRecall():
                self._writer.recall(self._recall_turns)
            case EraseMemory(last, _, chosen):
                number = self._writer.forget(last=last, chosen=chosen)
                self._forget_orders[number] = _ForgetOrder(action, time.monotonic(), self.client)

    def transcribed(self, news: Transcribed) -> None:
        """Keep it with its turn, if that is remembered; it goes nowhere else."""
        if started := self._started.pop(news.turn, ""):
            self._writer.transcribe(started, news.turn, news.text)

    def _remember(self, turn: RememberedTurn) -> None:
        self._writer.remember(turn)
        self._started[turn.turn] = turn.started
        while len(self._started) > MOST_STARTED:
            del self._started[next(iter(self._started))]

    def poll(self, now_s: float) -> Iterator[Recall | Forgotten | Say]:
        """What there is to tell: a Recall to the thinker, all else to the conversation."""
        for item in self._writer.pop_news():
            match item:
                case TurnsRecalled(turns):
                    yield Recall.newest((turn.asked, turn.transcript, turn.heard) for turn in turns)
                case ForgetResult():
                    yield self._answered(item)
                case MemoryHealth(well, text, set_aside):
                    fine = well and not set_aside
                    self._log.log(logging.INFO if fine else logging.WARNING, "%s", text)
                    if set_aside:
                        yield Say(self._say("memory-damaged"))
        if self._at_first:
            yield Say(self._say(self._at_first))
            self._at_first = ""
        if self._slow(now_s):
            yield Say(self._say("forget-slow"))

    def close(self) -> None:
        self._writer.close()

    def _answered(self, news: ForgetResult) -> Forgotten:
        if news.problem:
            self._log.error("not forgotten: %s", news.problem)
        problem = news.problem[:MAX_LINE]
        asked = self._forget_orders.pop(news.number, None)
        if asked is None:  # it had failed before, or it is from before this start
            return Forgotten(problem=problem, late=news.late)
        wanted = asked.wanted
        told = Forgotten(wanted.last, wanted.aloud, problem, news.late)
        if asked.client is not None:
            self.replies.append((asked.client, told))
        return told

    def _slow(self, now_s: float) -> bool:
        """Whether an order that is to be answered aloud takes long now; once for each."""
        late = [
            asked
            for asked in self._forget_orders.values()
            if asked.wanted.aloud and not asked.told and now_s - asked.at_s >= SLOW_S
        ]
        for asked in late:
            asked.told = True
        return bool(late)


def _turn(heard: Remember, model: str) -> RememberedTurn:
    ago = timedelta(seconds=time.monotonic() - heard.asked_at_s)
    started = (datetime.now().astimezone() - ago).isoformat(timespec="seconds")
    return RememberedTurn(
        started, heard.turn, heard.asked, heard.seconds, heard.heard, heard.complete, model
    )
