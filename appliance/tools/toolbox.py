"""Runs the tools: a call in, sentences and messages to send out. Pure; time is an argument.

The sentences come from the catalogue. Text that the model wrote in a call is not repeated, except
the name of a timer and a command that may open something, both as one short line of plain text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from appliance.language.catalogue import SOURCE, Catalogue, catalogue
from appliance.messages.commands import Forget, SetVolume
from appliance.messages.registry import Message
from appliance.messages.tools import HouseRequest
from appliance.tools.confirmation import CONFIRM_S, Asker, ConfirmationGuard, Decision
from appliance.tools.guard.reading import only_asks
from appliance.tools.intents import parse_clock, parse_number
from appliance.tools.spoken_time import (
    TOMORROW,
    ClockReading,
    parse_time,
    spoken_date,
    spoken_length,
    spoken_number,
    spoken_time,
    spoken_time_of_day,
    spoken_when,
)
from appliance.tools.timers import LONGEST_S, MOST, Timer, Timers, name_words
from appliance.tools.tool_call_syntax import ToolCall, Value, plain

LOUDER = 0.15  # of the full range: an audible step
LEAST_VOLUME, MOST_VOLUME = 0.05, 1.0  # not 0: the owner must hear that the box still answers
NAME_LETTERS = 40
COMMAND_LETTERS = 200  # of a command to the house
REPEATED_LETTERS = 80  # of a command that the box repeats before it asks for it again
MOST_REQUESTS = 3  # to the house in one answer, so that one answer cannot switch everything

# History and memory keep this note in place of the house's answers: their text may come from a
# guest or a song title, and in the next prompt the model would take it for its own words.
HOUSE_NOTE = "(the house answered)"
REPEATED = "(the last answer, again)"  # the repeated answer may contain text from the house
NOTES = (HOUSE_NOTE, REPEATED)
_REFUSALS = {
    Decision.CALL_FIRST: "house-press-first",
    Decision.PRESS: "house-press-again",
    Decision.LEFT: "house-left",
}


@dataclass(frozen=True)
class ToolContext:
    """The state of the conversation and of the box that tools use.

    last    sentences of the last answer
    house   whether the broker is connected; None: there is none, or the owner disabled the tool
    asker   how the owner asked
    language  language of the answer
    """

    volume: float = 0.8
    last: tuple[str, ...] = ()
    house: bool | None = None
    asker: Asker = field(default_factory=Asker)
    language: str = SOURCE

    @property
    def words(self) -> Catalogue:
        return catalogue(self.language)


@dataclass(frozen=True)
class ToolResult:
    """The result of a call. `lines`: the spoken answer; None: no answer, or not yet.

    messages  to handle right after that
    house     the request to the house, whose reply becomes the answer
    note      what the history keeps in place of the lines; "": the lines themselves
    confirms  the lines ask the owner to request it once more
    """

    lines: tuple[str, ...] | None = None
    messages: tuple[Message, ...] = ()
    house: HouseRequest | None = None
    note: str = ""
    confirms: bool = False


def answer(*lines: str, messages: tuple[Message, ...] = ()) -> ToolResult:
    return ToolResult(tuple(f"{line[:1].upper()}{line[1:]}" for line in lines), messages)


@dataclass
class Toolbox:
    """The functions of all tools and their state; one instance per conductor."""

    timers: Timers
    guard: ConfirmationGuard = field(default_factory=ConfirmationGuard)
    _request_number: int = 0
    _house_requests: tuple[int, int] = (0, 0)  # turn, and the number of requests in it
    _forget_deadline_s: float = field(default=-1.0)  # of the second request, on the boot clock
    _forget_turn: int = -1

    def run(self, call: ToolCall, now: ClockReading, context: ToolContext) -> ToolResult:
        """Run a call. It raises no error: the answer to an invalid call says that it is invalid."""
        tool = TOOLS.get(call.name)
        if tool is None:
            return answer(context.words.say("tool-unknown"))
        return tool(self, call.arguments, now, context)

    def time(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        clock = spoken_time(now.local(), context.words)
        return answer(context.words.say("tool-time", clock=clock))

    def date(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        date = spoken_date(now.local(), context.words)
        return answer(context.words.say("tool-date", date=date))

    def timer(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        minutes = _number(arguments.get("minutes"), context.language)
        if minutes is None:
            return answer(context.words.say("tool-unclear"))
        length_s = 60.0 * minutes
        if not math.isfinite(length_s) or not 1.0 <= round(length_s) <= LONGEST_S:
            return answer(context.words.say("timer-range"))
        length_s = float(round(length_s))
        if self.timers.full:
            return answer(_full(context.words))
        name = _name(arguments)
        self.timers.set_timer(length_s, name, now)
        length = spoken_length(length_s, context.words)
        return answer(_named(name, context.words.say("timer-set", length=length), context.words))

    def alarm(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        at = str(arguments.get("at", ""))
        if parse_time(at, now) is None:  # in words, as the owner said it: "halb acht"
            at = parse_clock(at, context.language) or ""
        wall_s = parse_time(at, now)
        if wall_s is None:
            return answer(context.words.say("alarm-unclear"))
        if self.timers.full:
            return answer(_full(context.words))
        tomorrow = at.strip().lower().startswith(TOMORROW)
        timer = self.timers.set_alarm(wall_s, _name(arguments), now, tomorrow=tomorrow)
        when = spoken_when(now.local(timer.due_wall_s), now.local(), context.words)
        return answer(_named(timer.name, context.words.say("alarm-set", when=when), context.words))

    def list_timers(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        waiting = sorted(self.timers.waiting, key=lambda timer: timer.left_s(now))
        if not waiting:
            return answer(context.words.say("timers-none"))
        return answer(*(_remaining(timer, now, context.words) for timer in waiting))

    def cancel_timer(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        name = _name(arguments)
        timer = self.timers.find(name)
        if self.timers.ringing and (timer is None or not name_words(name)):
            self.timers.stop_ringing()
            return answer(context.words.say("timer-stopped"))
        if timer is None:
            if name:
                return answer(context.words.say("timer-not-found", name=name))
            return answer(context.words.say("timer-none"))
        self.timers.cancel(timer)
        cancelled = context.words.say("timer-off", kind="alarm" if timer.alarm else "timer")
        return answer(_named(timer.name, cancelled, context.words))

    def volume(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        percent = _number(arguments.get("percent"), context.language)
        if percent is not None:
            wanted, done, most = percent / 100, "volume-set", ""
        else:
            step = {"up": LOUDER, "down": -LOUDER}.get(str(arguments.get("change", "")).lower())
            if step is None:
                return answer(context.words.say("tool-unclear"))
            wanted = context.volume + step
            done, most = (
                ("volume-up", "volume-most") if step > 0 else ("volume-down", "volume-least")
            )
        volume = round(min(MOST_VOLUME, max(LEAST_VOLUME, wanted)), 2)
        if most and volume == round(context.volume, 2):
            return answer(context.words.say(most))
        return answer(context.words.say(done), messages=(SetVolume(volume),))

    def repeat(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        if context.last:
            return ToolResult(context.last, note=REPEATED)
        return answer(context.words.say("nothing-said"))

    def forget(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        if not arguments.get("what"):
            return ToolResult(messages=(Forget(last=True, aloud=True),))
        if now.boot_s > self._forget_deadline_s or context.asker.turn == self._forget_turn:
            self._forget_deadline_s, self._forget_turn = now.boot_s + CONFIRM_S, context.asker.turn
            # Only another turn can confirm, so that the model cannot confirm its own call.
            return answer(context.words.say("forget-all-again"))
        self._forget_deadline_s = -1.0
        return ToolResult(messages=(Forget(aloud=True),))

    def home(
        self, arguments: Mapping[str, Value], now: ClockReading, context: ToolContext
    ) -> ToolResult:
        command = plain(str(arguments.get("command", "")))[:COMMAND_LETTERS].strip()
        if context.house is None:
            return answer(context.words.say("house-none"))
        if not command:
            return answer(context.words.say("tool-unclear"))
        if not context.house:
            return answer(context.words.say("house-away"))
        turn, times = self._house_requests
        self._house_requests = context.asker.turn, times + 1 if turn == context.asker.turn else 1
        if self._house_requests[1] > MOST_REQUESTS:
            return answer(context.words.say("house-enough"))
        decision = self.guard.decide(command, context.asker, now.boot_s)
        if decision == Decision.ASK_AGAIN:
            again = answer(context.words.say("house-opens", command=command[:REPEATED_LETTERS]))
            return replace(again, confirms=True)
        if decision in _REFUSALS:
            return answer(context.words.say(_REFUSALS[decision]))
        self._request_number += 1
        confirmed = decision == Decision.CONFIRMED
        harmless = not confirmed and only_asks(command)
        request = HouseRequest(self._request_number, command, confirmed, harmless)
        return ToolResult(house=request)

    def ask_for_house(
        self, command: str, name: str, now: ClockReading, context: ToolContext
    ) -> ToolResult:
        """The house reports that `command` touches `name`, which must be confirmed."""
        if not context.asker.opening:
            return answer(context.words.say("house-press-first"))
        self.guard.expect(command, context.asker, now.boot_s)
        lines = answer(context.words.say("house-touches", name=name or command[:REPEATED_LETTERS]))
        return replace(lines, note=HOUSE_NOTE, confirms=True)


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


def ringing_sentence(timer: Timer, now: ClockReading, words: Catalogue) -> str:
    """Return the sentence to speak between two rings."""
    if timer.alarm:
        clock = spoken_time(now.local(timer.due_wall_s), words)
        if timer.name:
            return words.say("alarm-rings-named", clock=clock, name=timer.name)
        return words.say("alarm-rings", clock=clock)
    return words.say("timer-rings", name=timer.name or spoken_length(timer.length_s, words))


def missed_sentence(timer: Timer, now: ClockReading, words: Catalogue) -> str:
    """Return the sentence about a missed timer."""
    clock = spoken_time_of_day(now.local(now.wall_s + timer.left_s(now)), words)
    if timer.name:
        key = "alarm-missed-named" if timer.alarm else "timer-missed-named"
        return words.say(key, clock=clock, name=timer.name)
    return words.say("alarm-missed" if timer.alarm else "timer-missed", clock=clock)


def _full(words: Catalogue) -> str:
    return words.say("timers-full", count=spoken_number(MOST, words))


def _remaining(timer: Timer, now: ClockReading, words: Catalogue) -> str:
    if timer.alarm:
        when = spoken_when(now.local(timer.due_wall_s), now.local(), words)
        return _named(timer.name, words.say("alarm-waits", when=when), words)
    left = spoken_length(max(1.0, timer.left_s(now)), words)
    return _named(timer.name, words.say("timer-left", length=left), words)


def _named(name: str, text: str, words: Catalogue) -> str:
    return words.say("timer-named", name=name, text=text) if name else text


def _name(arguments: Mapping[str, Value]) -> str:
    name = plain(str(arguments.get("name", "")))[:NAME_LETTERS].strip().lower()
    return "".join(letter for letter in name if letter.isalnum() or letter in " '-").strip()


def _number(value: Value | None, language: str) -> float | None:
    if isinstance(value, str):
        return parse_number(value, language)
    return float(value) if value is not None and math.isfinite(value) else None
