"""The conductor's tools: what goes into the dialogue, to the house and onto the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from appliance.dialog.actions import UseTool
from appliance.dialog.on_tool import Ringing, ToolReply
from appliance.dialog.tool_runner import HOUSE_S, ToolEvent, ToolRunner
from appliance.language.catalogue import english
from appliance.messages.commands import Forget, Say, SetVolume
from appliance.messages.registry import Message
from appliance.messages.tools import (
    HouseRequest,
    HouseResponse,
    ShownTimer,
    TimerEvent,
    TimersList,
    TimersStatus,
)
from appliance.settings import load
from appliance.tools.confirmation import Asker
from appliance.tools.spoken_time import ClockReading
from appliance.tools.tool_call_syntax import ToolCall, Value
from appliance.tools.toolbox import HOUSE_NOTE, ToolContext

DONE = english().say("house-done")
NOT_DONE = english().say("house-not-done")
HOUSE_AWAY = english().say("house-away")
HOUSE_SILENT = english().say("house-silent")

HERE = ToolContext(house=True)


class Bench:
    """A tool runner whose clock the test sets."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        file = folder / "settings.yaml"
        file.write_text("")
        self.settings = load(file, {"state_dir": str(folder), **changes})
        self.now = ClockReading(1000.0, 1_800_000_000.0)
        self.runner = ToolRunner(self.settings, lambda: self.now)

    def advance(self, seconds: float) -> None:
        self.now = ClockReading(self.now.boot_s + seconds, self.now.wall_s + seconds)

    def use(self, tool: str, about: ToolContext = HERE, /, **arguments: Value) -> list[ToolEvent]:
        return self.runner.run_tool(UseTool(7, 0, ToolCall(tool, arguments)), about)

    def for_link(self) -> list[Message]:
        found: list[Message] = [n for n in self.runner.news if not isinstance(n, TimersList)]
        self.runner.news.clear()
        return found

    def lists(self) -> list[TimersList]:
        found = [news for news in self.runner.news if isinstance(news, TimersList)]
        self.runner.news.clear()
        return found

    def restart(self, *, off_s: float = 0.0) -> None:
        self.runner.close()
        self.advance(off_s)
        self.runner = ToolRunner(self.settings, lambda: self.now)


Make = Callable[..., Bench]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Bench] = []

    def bench(**changes: Any) -> Bench:
        made.append(Bench(tmp_path, **changes))
        return made[-1]

    yield bench
    for one in made:
        one.runner.close()


def test_a_tool_answers_at_once(make: Make) -> None:
    assert make().use("timer", minutes=5) == [ToolReply(7, 0, ("Five minutes, from now.",))]


def test_a_tools_action_precedes_its_reply(make: Make) -> None:
    assert make().use("volume", change="up") == [SetVolume(0.95), ToolReply(7, 0, ("Louder.",))]
    assert make().use("forget") == [Forget(last=True, aloud=True)]


# ── the house ────────────────────────────────────────────────────────────────────────────────
def test_the_house_response_becomes_the_tools_reply(make: Make) -> None:
    bench = make()
    assert bench.use("home", command="turn on the light") == []
    assert bench.for_link() == [HouseRequest(1, "turn on the light")]
    bench.advance(HOUSE_S - 0.1)
    assert bench.runner.poll() == []
    said = bench.runner.on_house_response(HouseResponse(1, "Turned on the light", done=True))
    assert said == [ToolReply(7, 0, ("Turned on the light",), HOUSE_NOTE)]
    bench.advance(10.0)
    assert bench.runner.poll() == []


@pytest.mark.parametrize(("done", "sentence"), [(True, DONE), (False, NOT_DONE)])
def test_an_empty_house_response_gets_a_default_sentence(
    make: Make, done: bool, sentence: str
) -> None:
    bench = make()
    bench.use("home", command="turn on the light")
    assert bench.runner.on_house_response(HouseResponse(1, "", done)) == [
        ToolReply(7, 0, (sentence,))
    ]


def test_a_house_that_wants_a_confirmation_gets_it_with_the_second_request(make: Make) -> None:
    bench = make()
    first = ToolContext(house=True, asker=Asker(7, "hand"))
    bench.use("home", first, command="good evening")
    refusal = HouseResponse(1, "", done=False, confirm=True, name="Gate")
    touches = english().say("house-touches", name="Gate")
    assert bench.runner.on_house_response(refusal) == [
        ToolReply(7, 0, (touches,), HOUSE_NOTE, confirms=True)
    ]
    bench.for_link()
    bench.use("home", replace(first, asker=Asker(8, "hand")), command="good evening")
    assert bench.for_link() == [HouseRequest(2, "good evening", confirmed=True)]


def test_what_may_open_something_is_asked_again_and_the_wake_word_not_waived(make: Make) -> None:
    context = ToolContext(house=True, asker=Asker(7, "wake_word"))
    (reply,) = make().use("home", context, command="open the gate")
    assert isinstance(reply, ToolReply)
    assert reply.confirms


def test_a_late_house_gets_an_apology_and_its_response_is_dropped(make: Make) -> None:
    bench = make()
    bench.use("home", command="turn on the light")
    assert 0 < bench.runner.wait_s() <= HOUSE_S
    bench.advance(HOUSE_S)
    assert bench.runner.poll() == [ToolReply(7, 0, (HOUSE_SILENT,))]
    assert bench.runner.on_house_response(HouseResponse(1, "Turned on the light", done=True)) == []


def test_an_unreachable_house_gets_an_apology_at_once_and_no_request(make: Make) -> None:
    bench = make()
    away = bench.use("home", ToolContext(house=False), command="turn on the light")
    assert away == [ToolReply(7, 0, (HOUSE_AWAY,))]
    assert bench.for_link() == []


def test_an_unsolicited_house_response_is_dropped(make: Make) -> None:
    bench = make()
    assert bench.runner.on_house_response(HouseResponse(1, "Hello", done=True)) == []
    bench.use("home", command="one")
    bench.use("home", command="two")
    assert bench.runner.on_house_response(HouseResponse(1, "One", done=True)) == []
    assert bench.runner.on_house_response(HouseResponse(2, "Two", done=True)) == [
        ToolReply(7, 0, ("Two",), HOUSE_NOTE)
    ]
    assert bench.runner.on_house_response(HouseResponse(2, "Two", done=True)) == []


# ── timers ───────────────────────────────────────────────────────────────────────────────────
def test_a_timer_rings_and_each_of_its_events_is_sent_to_the_house_once(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=5, name="eggs")
    status = TimersStatus(timers=1, next_at_s=1_800_000_300.0)
    assert bench.for_link() == [TimerEvent("set", 1, False, "", 300.0), status]
    bench.advance(299.0)
    assert bench.runner.poll() == []
    bench.advance(1.0)
    assert bench.runner.poll() == [Ringing(("Your timer is done: eggs.",))]
    assert bench.for_link() == [
        TimerEvent("rings", 1, False, "", 300.0),
        TimersStatus(ringing=True),
    ]
    bench.advance(5.0)
    assert bench.runner.poll() == []
    bench.runner.stop_ringing()
    assert bench.for_link() == [TimerEvent("stopped", 1, False, "", 300.0), TimersStatus()]
    assert bench.runner.poll() == []


def test_timer_names_are_sent_only_where_words_may_leave_the_box(make: Make) -> None:
    bench = make(link={"words": True})
    bench.use("timer", minutes=5, name="eggs")
    assert bench.for_link()[0] == TimerEvent("set", 1, False, "eggs", 300.0)


def test_a_timer_that_is_given_up_stops_ringing(make: Make) -> None:
    bench = make(tools={"ring_minutes": 1})
    bench.use("timer", minutes=5)
    bench.advance(300.0)
    assert len(bench.runner.poll()) == 1
    bench.advance(61.0)
    assert bench.runner.poll() == [Ringing(())]


def test_a_timer_continues_across_a_restart(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=5, name="eggs")
    bench.restart(off_s=200.0)
    assert bench.runner.poll(voice=True) == []
    bench.advance(100.0)
    assert bench.runner.poll(voice=True) == [Ringing(("Your timer is done: eggs.",))]


def test_a_timer_that_expired_while_off_is_announced_once_when_a_voice_is_up(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=5, name="eggs")
    bench.restart(off_s=4000.0)
    assert bench.runner.poll() == []
    (said,) = bench.runner.poll(voice=True)
    assert isinstance(said, Say)
    assert said.text.startswith("While I was off, your timer, eggs, ran out at ")
    assert bench.runner.poll(voice=True) == []
    bench.restart()
    assert bench.runner.poll(voice=True) == []


def test_many_missed_timers_are_announced_by_their_number_only(make: Make) -> None:
    bench = make()
    for minutes in range(1, 6):
        bench.use("timer", minutes=minutes)
    bench.restart(off_s=4000.0)
    (said,) = bench.runner.poll(voice=True)
    assert said == Say("While I was off, 5 timers ran out.", chime=True)


def test_a_stopped_timer_stays_stopped_after_a_restart(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=5)
    bench.use("timer", minutes=9)
    bench.use("cancel_timer")
    bench.advance(300.0)
    bench.runner.poll()
    bench.runner.stop_ringing()
    bench.restart()
    assert bench.runner.poll(voice=True) == []
    assert bench.runner.status() == TimersStatus()


# ── the page's list
def test_the_page_lists_timers_by_name_even_where_no_words_may_leave(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=5, name="eggs")
    bench.use("timer", minutes=1)
    (_, listed) = bench.lists()
    assert listed.timers == (
        ShownTimer(2, False, "", 1_800_000_060.0, 60.0),
        ShownTimer(1, False, "eggs", 1_800_000_300.0, 300.0),
    )
    assert bench.runner.listing() == listed


def test_a_timer_is_cancelled_by_its_number_and_no_other_is(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=5, name="eggs")
    bench.use("timer", minutes=6, name="tea")
    bench.for_link()
    bench.runner.cancel(1)
    kinds = [news.kind for news in bench.runner.news if isinstance(news, TimerEvent)]
    (listed,) = bench.lists()
    assert (kinds, [one.name for one in listed.timers]) == (["cancelled"], ["tea"])
    bench.runner.cancel(1)
    bench.runner.cancel(99)
    assert bench.lists() == [], "cancelling an absent timer is no error and sends no list"


def test_a_ringing_timer_is_listed_as_ringing_until_it_is_stopped(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=1)
    bench.advance(61.0)
    bench.runner.poll()
    (*_, listed) = bench.lists()
    assert [one.ringing for one in listed.timers] == [True]
    bench.runner.cancel(1)
    assert bench.lists() == [], "a ringing timer is stopped, not cancelled"
    bench.runner.stop_ringing()
    assert bench.lists() == [TimersList()]


def test_a_rounding_difference_of_a_second_sends_no_new_list(make: Make) -> None:
    bench = make()
    bench.use("timer", minutes=5)
    bench.lists()
    for _ in range(10):
        bench.advance(0.7)
        bench.runner.poll()
    assert bench.lists() == []
