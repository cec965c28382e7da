"""Messages of the tools: calls of the model, requests to the house, and events of timers.

In the link mqtt/home_tool.py handles HouseRequest and HouseResponse. TimerEvent is an event, sent
once and never retained; TimersStatus is the present state, of which the latest counts. The
conductor sends both to the link, like StateChanged and BoxStatus.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.messages.limits import MOST_ARGUMENTS, AnswerText, Count, LineText, NameText
from appliance.messages.message import BaseMessage

MOST_SHOWN = 32  # timers in a list; the box keeps fewer
TimerNews = Literal["set", "rings", "stopped", "cancelled", "missed"]


class ToolCalled(BaseMessage, frozen=True):
    """The model calls a tool: call `number`, from 0, of answer `turn`. Its place among the
    sentences of the answer is the order of the messages. `docs/tools.md` lists the tools."""

    turn: Count
    number: Count
    name: NameText
    arguments: Annotated[
        dict[NameText, LineText | int | float], msgspec.Meta(max_length=MOST_ARGUMENTS)
    ] = msgspec.field(default_factory=dict)


class ToolAnswered(BaseMessage, frozen=True):
    """Result of the tool for call `number` of `turn`; the box is speaking it."""

    turn: Count
    number: Count
    text: AnswerText


class HouseRequest(BaseMessage, frozen=True):
    """Send a request in plain words to the house.

    `confirmed`: the owner has requested it twice. `harmless`: it only asks for a state, or names a
    door only as a place, so that it needs no confirmation whatever it touches.
    """

    number: Count
    text: LineText
    confirmed: bool = False
    harmless: bool = False


class HouseResponse(BaseMessage, frozen=True):
    """Reply of the house to request `number`: one short line of plain words, or "".

    `done`: the house reports that it carried out the request. `confirm`: it has done nothing, since
    the request touches `name` and is not confirmed.
    """

    number: Count
    text: LineText
    done: bool
    confirm: bool = False
    name: NameText = ""


class TimerEvent(BaseMessage, frozen=True):
    """An event of one timer or alarm.

    set         it was set
    rings       it is due and rings until it is stopped
    stopped     its ringing was stopped
    cancelled   it was cancelled before it was due
    missed      its ringing was not stopped in time, or it was due while the box was off

    `name` is the owner's name for it, and "" unless `link.words` lets words leave the box.
    `length_s`: duration of a timer as it was set.
    """

    kind: TimerNews
    number: Count
    alarm: bool
    name: NameText = ""
    length_s: float = 0.0


class TimersStatus(BaseMessage, frozen=True):
    """Counts of pending timers and alarms; sent on change, and to a part that starts.

    `timers`, `alarms`: number pending. `next_at_s`: when the next one is due, in seconds since
    1970; 0.0: none. `ringing`: one is ringing, including the pause between two rings.
    """

    timers: int = 0
    alarms: int = 0
    next_at_s: float = 0.0
    ringing: bool = False


class ShownTimer(msgspec.Struct, frozen=True):
    """One timer or alarm, for the page. `due_s`: seconds since 1970 by the box's clock. `length_s`:
    duration of a timer as it was set. `name`: the owner's name for it."""

    number: Count
    alarm: bool
    name: NameText
    due_s: float
    length_s: float = 0.0
    ringing: bool = False


class TimersList(BaseMessage, frozen=True):
    """All pending and ringing timers and alarms, the next one first; sent on change, and to a page
    that starts. It contains the owner's words, so the page shows it to paired browsers only."""

    timers: Annotated[tuple[ShownTimer, ...], msgspec.Meta(max_length=MOST_SHOWN)] = ()


class CancelTimer(BaseMessage, frozen=True):
    """Cancel the timer or alarm `number`; that it no longer exists is not an error."""

    number: Count
