"""Runs tools for the conductor: tool calls in, replies and other events out. It never blocks.

In: calls, the house's responses, time. Out: events for the state machine, messages for link, page
and panel. tools/toolbox.py implements the tools; this module adds the clocks, the timeout of
requests to the house, and the timers' file.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from appliance.dialog.actions import UseTool
from appliance.dialog.on_tool import Ringing, ToolReply
from appliance.language.catalogue import SOURCE, Catalogue, catalogue
from appliance.messages.commands import Say
from appliance.messages.registry import Message
from appliance.messages.tools import (
    HouseResponse,
    TimerEvent,
    TimersList,
    TimersStatus,
)
from appliance.settings import Settings
from appliance.tools import timer_store
from appliance.tools.confirmation import ConfirmationGuard
from appliance.tools.guard.reading import lexicon
from appliance.tools.spoken_time import ClockReading
from appliance.tools.timer_store import TimerStore
from appliance.tools.timers import Timers
from appliance.tools.tool_call_syntax import ToolCall
from appliance.tools.toolbox import (
    HOUSE_NOTE,
    Toolbox,
    ToolContext,
    missed_sentence,
    ringing_sentence,
)

HOUSE_S = 2.0  # timeout of a request to the house; in a longer silence people ask again
MOST_MISSED = 3  # announced one by one; of more only the number is announced

ToolEvent = Message | ToolReply | Ringing


def now() -> ClockReading:
    """The time by this machine's clocks."""
    return ClockReading(time.clock_gettime(time.CLOCK_BOOTTIME), time.time())


@dataclass(frozen=True)
class _PendingRequest:
    """A call that waits for the house's response."""

    turn: int
    number: int
    request: int  # its number
    until_s: float  # CLOCK_BOOTTIME
    command: str
    context: ToolContext


class ToolRunner:
    """Runs tools and timers. `news`: messages for other parts, which the caller removes.
    `language`: of the sentences that tools and timers say from now on."""

    def __init__(self, settings: Settings, clock: Callable[[], ClockReading] = now) -> None:
        self._clock = clock
        self.language = SOURCE
        self._publishes_words = settings.link.words
        self._timers = Timers(60.0 * settings.tools.ring_minutes)
        self._toolbox = Toolbox(self._timers, ConfirmationGuard(settings.tools.confirm))
        if settings.tools.home:
            lexicon()  # now, so that the first request does not wait for it
        self._pending: _PendingRequest | None = None
        self._ringing: tuple[str, ...] = ()
        self._status, self._listing = TimersStatus(), TimersList()
        self.news: deque[Message] = deque(maxlen=100)
        self._timer_store = TimerStore(timer_store.path(settings), timer_store.boot_id())
        timers, same_boot = self._timer_store.load()
        self._timers.restore(timers, same_boot=same_boot)

    def run_tool(self, action: UseTool, context: ToolContext) -> list[ToolEvent]:
        """Run the tool of a call."""
        return self._use(action.turn, action.number, action.call, context)

    def _use(self, turn: int, number: int, call: ToolCall, context: ToolContext) -> list[ToolEvent]:
        moment = self._clock()
        outcome = self._toolbox.run(call, moment, context)
        if outcome.house is not None:
            self._pending = _PendingRequest(turn, number, outcome.house.number,
                                            moment.boot_s + HOUSE_S, outcome.house.text,
                                            context)  # fmt: skip
            self.news.append(outcome.house)  # it replaces a pending one, whose response is ignored
        events: list[ToolEvent] = []
        if outcome.lines is not None:
            events.append(ToolReply(turn, number, outcome.lines, outcome.note, outcome.confirms))
        return [*outcome.messages, *events, *self.poll()]

    def on_house_response(self, response: HouseResponse) -> list[ToolEvent]:
        """Handle the house's response; a late one, or one without a request, is dropped."""
        pending = self._pending
        if pending is None or pending.request != response.number:
            return []
        self._pending = None
        if response.confirm:
            asked = self._toolbox.ask_for_house(
                pending.command, response.name, self._clock(), pending.context
            )
            return [ToolReply(pending.turn, pending.number, asked.lines or (), asked.note,
                              asked.confirms)]  # fmt: skip
        text = response.text or self._words.say("house-done" if response.done else "house-not-done")
        note = HOUSE_NOTE if response.text else ""
        return [ToolReply(pending.turn, pending.number, (text,), note)]

    def poll(self, *, voice: bool = False) -> list[ToolEvent]:
        """Events that are due. `voice`: a voice is loaded that can announce missed timers."""
        moment = self._clock()
        events: list[ToolEvent] = []
        if self._pending is not None and moment.boot_s >= self._pending.until_s:
            events.append(
                ToolReply(
                    self._pending.turn, self._pending.number, (self._words.say("house-silent"),)
                )
            )
            self._pending = None
        self._timers.advance(moment)
        if voice and self._timers.missed:
            events.append(Say(self._missed(moment), chime=True))
            self._timers.acknowledge_missed()
        lines = tuple(
            ringing_sentence(timer, moment, self._words) for timer in self._timers.ringing
        )
        if lines != self._ringing:
            self._ringing = lines
            events.append(Ringing(lines))
        self._report(moment)
        return events

    def wait_s(self) -> float:
        """Seconds until the pending request times out."""
        if self._pending is None:
            return 3600.0  # timers are polled as often as the floor
        return max(0.0, self._pending.until_s - self._clock().boot_s)

    def stop_ringing(self) -> None:
        """Stop all that rings, on the owner's request."""
        self._timers.stop_ringing()
        self._ringing = ()
        self._report(self._clock())

    @property
    def _words(self) -> Catalogue:
        return catalogue(self.language)

    def _missed(self, moment: ClockReading) -> str:
        words = self._words
        sentences = [missed_sentence(timer, moment, words) for timer in self._timers.missed]
        if len(sentences) > MOST_MISSED:
            return words.say("timers-missed", count=len(sentences))
        return " ".join(sentences)

    def status(self) -> TimersStatus:
        """The last status, for a link that has just started."""
        return self._status

    def listing(self) -> TimersList:
        """The last list, for a page that has just started."""
        return self._listing

    def cancel(self, number: int) -> None:
        """Cancel timer `number`, if it is set."""
        self._timers.cancel_number(number)
        self._report(self._clock())

    def complaints(self) -> list[str]:
        """Problems with the timers' file, for the log."""
        queue = self._timer_store.complaints
        return [queue.get() for _ in range(queue.qsize())]

    def close(self) -> None:
        self._timer_store.close()

    def _report(self, moment: ClockReading) -> None:
        """Store changed timers, and queue messages about them in `news`."""
        for news in self._timers.news:
            self.news.append(news if self._publishes_words else _without_words(news))
        self._timers.news.clear()
        if self._timers.changed:
            self._timers.changed = False
            self._timer_store.save(self._timers.all)
        status = self._timers.status(moment)
        if _differs(status, self._status):
            self._status = status
            self.news.append(status)
        listing = self._timers.listing(moment)
        if _lists_differ(listing, self._listing):
            self._listing = listing
            self.news.append(listing)


def _without_words(news: TimerEvent) -> TimerEvent:
    return TimerEvent(news.kind, news.number, news.alarm, "", news.length_s)


def _lists_differ(current: TimersList, previous: TimersList) -> bool:
    """Whether the lists differ in timers, names or ringing, or in times by more than rounding."""
    pairs = zip(current.timers, previous.timers, strict=False)
    return len(current.timers) != len(previous.timers) or any(
        (new.number, new.name, new.ringing) != (old.number, old.name, old.ringing)
        or abs(new.due_s - old.due_s) > 2.0
        for new, old in pairs
    )


def _differs(new: TimersStatus, old: TimersStatus) -> bool:
    """Whether the statuses differ by more than rounding, so that no unchanged one is sent."""
    same = (new.timers, new.alarms, new.ringing) == (old.timers, old.alarms, old.ringing)
    return not same or abs(new.next_at_s - old.next_at_s) > 2.0
