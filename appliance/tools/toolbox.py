"""What each tool does and says: a call in, sentences and wishes out. Pure; time is an argument.

Every sentence here is spoken. What a model wrote in a call is never repeated as it stands, but for
the name of a timer, which is one short line of plain words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from appliance.messages.commands import Forget, SetVolume
from appliance.messages.registry import Message
from appliance.messages.tools import HouseRequest
from appliance.tools.confirmation import CONFIRM_S, ConfirmationGuard, opens_something
from appliance.tools.spoken_numbers import in_words, parse_number
from appliance.tools.spoken_time import (
    ClockReading,
    parse_time,
    part_of_day,
    spoken_date,
    spoken_length,
    spoken_time,
    spoken_when,
)
from appliance.tools.timers import LONGEST_S, MOST, Timer, Timers, meant
from appliance.tools.tool_call_syntax import ToolCall, Value, plain

LOUDER = 0.15  # of the whole range: a step that is heard
LEAST_VOLUME, MOST_VOLUME = 0.05, 1.0  # a voice that cannot be heard cannot be asked to speak up
NAME_LETTERS = 40
COMMAND_LETTERS = 200  # to the house
MOST_REQUESTS = 3  # to the house in one answer: three lamps, no tour of it

UNKNOWN = "I cannot do that."
UNCLEAR = "I did not get that right. Please say it again."
NO_HOUSE = "I am not connected to the house."
HOUSE_AWAY = "I cannot reach the house just now."
ENOUGH = "That is enough for one answer."
OPENS = "That may open something. Ask me once more, in the same words, and I will."
CALL_ME_FIRST = "That may open something. Press my button first, and then ask me."
HOUSE_SILENT = "The house does not answer."
# All that the model and the memory keep of the house's answers: its words may be a guest's, or the
# title of a song, and the model would read them as its own before it answers the next question.
HOUSE_NOTE = "(the house answered)"
REPEATED = "(the last answer, again)"  # that may hold the house's words
NOTES = (HOUSE_NOTE, REPEATED)
NOTHING_SAID = "I have not said anything yet."
ASK_AGAIN = "That is all we ever said. Ask me once more to forget everything, and I will."


@dataclass(frozen=True)
class ToolContext:
    """What tools need to know of the conversation, and of the box.

    last    sentences of the last answer
    house   whether the broker is reached; None: there is none, or the owner does not want it
    turn    of the answer that the call belongs to
    chosen  whoever asked opened the floor for it (dialog/answer.py)
    """

    volume: float = 0.8
    last: tuple[str, ...] = ()
    house: bool | None = None
    turn: int = 0
    chosen: bool = False


@dataclass(frozen=True)
class ToolResult:
    """`lines` are spoken as the tool's answer; None: nothing is, or not yet.

    wishes  messages to be acted on right after that
    house   the answer comes from there, and this is the question
    note    what is kept in place of the lines; "": the lines themselves
    """

    lines: tuple[str, ...] | None = None
    wishes: tuple[Message, ...] = ()
    house: HouseRequest | None = None
    note: str = ""


def says(*lines: str, wishes: tuple[Message, ...] = ()) -> ToolResult:
    return ToolResult(tuple(f"{line[:1].upper()}{line[1:]}" for line in lines), wishes)


@dataclass
class Toolbox:
    """One of it lives as long as the conductor."""

    timers: Timers
    guard: ConfirmationGuard = field(default_factory=ConfirmationGuard)
    _requests: int = 0
    _asked: tuple[int, int] = (0, 0)  # the house: in which turn, how often
    _forget_by_s: float = field(default=-1.0)  # by the machine's clock
    _forget_turn: int = -1

    def run(self, call: ToolCall, now: ClockReading, about: ToolContext) -> ToolResult:
        """Never fails: a call that makes no sense is said to make none."""
        tool = TOOLS.get(call.name)
        if tool is None:
            return says(UNKNOWN)
        return tool(self, call.arguments, now, about)

    def time(self, given: Mapping[str, Value], now: ClockReading, about: ToolContext) -> ToolResult:
        return says(f"it is {spoken_time(now.local())}.")

    def date(self, given: Mapping[str, Value], now: ClockReading, about: ToolContext) -> ToolResult:
        return says(f"it is {spoken_date(now.local())}.")

    def timer(
        self, given: Mapping[str, Value], now: ClockReading, about: ToolContext
    ) -> ToolResult:
        minutes = _number(given.get("minutes"))
        if minutes is None:
            return says(UNCLEAR)
        length_s = float(round(60 * minutes))
        if not 1.0 <= length_s <= LONGEST_S:
            return says("a timer can be anything from one second to a day.")
        if self.timers.full:
            return says(f"I have {in_words(MOST)} of them already. Cancel one first.")
        name = _name(given)
        self.timers.set_timer(length_s, name, now)
        return says(f"{_for(name)}{spoken_length(length_s)}, from now.")

    def alarm(
        self, given: Mapping[str, Value], now: ClockReading, about: ToolContext
    ) -> ToolResult:
        wall_s = parse_time(str(given.get("at", "")), now)
        if wall_s is None:
            return says("I did not get the time for that alarm. Please say it again.")
        if self.timers.full:
            return says(f"I have {in_words(MOST)} of them already. Cancel one first.")
        timer = self.timers.set_alarm(wall_s, _name(given), now)
        when = spoken_when(now.local(timer.due_wall_s), now.local())
        return says(f"{_for(timer.name)}the alarm is set for {when}.")

    def list_timers(
        self, given: Mapping[str, Value], now: ClockReading, about: ToolContext
    ) -> ToolResult:
        waiting = sorted(self.timers.waiting, key=lambda timer: timer.left_s(now))
        if not waiting:
            return says("there is no timer and no alarm.")
        return says(*(_stands(timer, now) for timer in waiting))

    def cancel_timer(
        self, given: Mapping[str, Value], now: ClockReading, about: ToolContext
    ) -> ToolResult:
        name = _name(given)
        timer = self.timers.find(name)
        if self.timers.ringing and (timer is None or not meant(name)):
            self.timers.stop_ringing()
            return says("all right.")
        if timer is None:
            return says(f"there is no timer called {name}." if name else "there is no timer.")
        self.timers.cancel(timer)
        return says(f"{_for(timer.name)}the {'alarm' if timer.alarm else 'timer'} is off.")

    def volume(
        self, given: Mapping[str, Value], now: ClockReading, about: ToolContext
    ) -> ToolResult:
        percent = _number(given.get("percent"))
        if percent is not None:
            wanted, word = percent / 100, "like this."
        else:
            step = {"up": LOUDER, "down": -LOUDER}.get(str(given.get("change", "")).lower())
            if step is None:
                return says(UNCLEAR)
            wanted, word = about.volume + step, "louder." if step > 0 else "softer."
        volume = round(min(MOST_VOLUME, max(LEAST_VOLUME, wanted)), 2)
        if volume == round(about.volume, 2) and percent is None:
            return says(f"I cannot speak any {word}")
        return says(word, wishes=(SetVolume(volume),))

    def repeat(
        self, given: Mapping[str, Value], now: ClockReading, about: ToolContext
    ) -> ToolResult:
        return ToolResult(about.last or (NOTHING_SAID,), note=REPEATED if about.last else "")

    def forget(
        self, given: Mapping[str, Value], now: ClockReading, about: ToolContext
    ) -> ToolResult:
        if not given.get("what"):
            return ToolResult(wishes=(Forget(last=True, aloud=True),))
        if now.boot_s > self._forget_by_s or about.turn == self._forget_turn:
            self._forget_by_s, self._forget_turn = now.boot_s + CONFIRM_S, about.turn
            return says(ASK_AGAIN)  # an answer of the model's cannot confirm itself
        self._forget_by_s = -1.0
        return ToolResult(wishes=(Forget(aloud=True),))

    def home(self, given: Mapping[str, Value], now: ClockReading, about: ToolContext) -> ToolResult:
        command = plain(str(given.get("command", "")))[:COMMAND_LETTERS].strip()
        if about.house is None:
            return says(NO_HOUSE)
        if not command:
            return says(UNCLEAR)
        if not about.house:
            return says(HOUSE_AWAY)
        turn, times = self._asked
        self._asked = about.turn, times + 1 if turn == about.turn else 1
        if self._asked[1] > MOST_REQUESTS:
            return says(ENOUGH)
        if opens_something(command, self.guard.stems) and not about.chosen:
            return says(CALL_ME_FIRST)
        if self.guard.wants_confirmation(command, about.turn, now.boot_s):
            return says(OPENS)
        self._requests += 1
        return ToolResult(house=HouseRequest(self._requests, command))


ToolFunction = Callable[[Toolbox, Mapping[str, Value], ClockReading, ToolContext], ToolResult]

TOOLS: Mapping[str, ToolFunction] = {
    "time": Toolbox.time,
    "date": Toolbox.date,
    "timer": Toolbox.timer,
    "alarm": Toolbox.alarm,
    "timers": Toolbox.list_timers,
    "cancel_timer": Toolbox.cancel_timer,
    "volume": Toolbox.volume,
    "repeat": Toolbox.repeat,
    "forget": Toolbox.forget,
    "home": Toolbox.home,
}


def ringing_sentence(timer: Timer, now: ClockReading) -> str:
    """What is said between two rings."""
    if timer.alarm:
        when = spoken_time(now.local(timer.due_wall_s))
        return f"It is {when}: {timer.name}." if timer.name else f"It is {when}. Your alarm."
    length = spoken_length(timer.length_s)
    name = timer.name or length
    return f"Your timer is done: {name}."


def missed_sentence(timer: Timer, now: ClockReading) -> str:
    """What is said of one whose time came while nobody was there to ring."""
    at = now.wall_s + timer.left_s(now)
    when = f"{spoken_time(now.local(at))} {part_of_day(now.local(at))}"
    name = f", {timer.name}," if timer.name else ""
    if timer.alarm:
        return f"While I was off, your alarm{name} was due at {when}."
    return f"While I was off, your timer{name} ran out at {when}."


def _stands(timer: Timer, now: ClockReading) -> str:
    if timer.alarm:
        when = spoken_when(now.local(timer.due_wall_s), now.local())
        return f"{_for(timer.name)}an alarm for {when}."
    return f"{_for(timer.name)}{spoken_length(max(1.0, timer.left_s(now)))} left."


def _for(name: str) -> str:
    return f"{name}: " if name else ""


def _name(given: Mapping[str, Value]) -> str:
    name = plain(str(given.get("name", "")))[:NAME_LETTERS].strip().lower()
    return "".join(letter for letter in name if letter.isalnum() or letter in " '-").strip()


def _number(value: Value | None) -> float | None:
    if isinstance(value, str):
        return parse_number(value)
    return float(value) if value is not None and math.isfinite(value) else None
