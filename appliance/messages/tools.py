"""Messages of the tools: calls of the model, requests to the house, and what becomes of timers.

For the link: HouseRequest and HouseResponse are mqtt/home_tool.py's. TimerEvent is an event, sent
once and never retained; TimersStatus is the present state, of which the latest counts. Both reach
it from the conductor like StateChanged and BoxStatus.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.messages.limits import MOST_ARGUMENTS, AnswerText, Count, LineText, NameText
from appliance.messages.message import BaseMessage

MOST_SHOWN = 32  # timers of a list; the box keeps fewer
TimerNews = Literal["set", "rings", "stopped", "cancelled", "missed"]


class ToolCalled(BaseMessage, frozen=True):
    """The model calls a tool, as the `number`-th (from 0) of its answer `turn`, between the
    sentences that came before this and those that come after it. `docs/tools.md` has the tools."""

    turn: Count
    number: Count
    name: NameText
    arguments: Annotated[
        dict[NameText, LineText | int | float], msgspec.Meta(max_length=MOST_ARGUMENTS)
    ] = msgspec.field(default_factory=dict)


class ToolAnswered(BaseMessage, frozen=True):
    """What the tool said to call `number` of `turn`; it is being spoken."""

    turn: Count
    number: Count
    text: AnswerText


class HouseRequest(BaseMessage, frozen=True):
    """Ask the house for something, in plain words."""

    number: Count
    text: LineText


class HouseResponse(BaseMessage, frozen=True):
    """What the house said to request `number`: one short line of plain words, or "".

    `done`: it says that it did as asked.
    """

    number: Count
    text: LineText
    done: bool


class TimerEvent(BaseMessage, frozen=True):
    """Something about one timer or alarm.

    set         it was set
    rings       its time has come, and it rings until somebody stops it
    stopped     somebody stopped its ringing
    cancelled   it was taken away before its time
    missed      it rang and nobody stopped it, or its time came while the box was off

    `name` is the owner's word for it, and "" unless `link.words` lets words leave the box.
    `length_s`: of a timer, when it was set.
    """

    kind: TimerNews
    number: Count
    alarm: bool
    name: NameText = ""
    length_s: float = 0.0


class TimersStatus(BaseMessage, frozen=True):
    """What is set. At every change, and for a link that came up.

    `timers`, `alarms`: how many wait. `next_at_s`: when the next of them is due, in seconds since
    1970; 0.0: none is. `ringing`: one rings now, also between two rings.
    """

    timers: int = 0
    alarms: int = 0
    next_at_s: float = 0.0
    ringing: bool = False


class ShownTimer(msgspec.Struct, frozen=True):
    """One timer or alarm, for the page. `due_s`: since 1970, by the box's clock. `length_s`: of a
    timer, when it was set. `name`: the owner's word for it."""

    number: Count
    alarm: bool
    name: NameText
    due_s: float
    length_s: float = 0.0
    ringing: bool = False


class TimersList(BaseMessage, frozen=True):
    """All that is set and all that rings, the next first. At every change, and for a page that came
    up. It has the owner's words: it goes to the page, and the page shows it to who was let in."""

    timers: Annotated[tuple[ShownTimer, ...], msgspec.Meta(max_length=MOST_SHOWN)] = ()


class CancelTimer(BaseMessage, frozen=True):
    """Take the timer or alarm of that number away before its time; one that is gone is no fault."""

    number: Count
