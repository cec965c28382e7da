"""The sentences and effects of each tool."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.language.catalogue import english
from appliance.messages.commands import Forget, SetVolume
from appliance.messages.registry import encode
from appliance.messages.tools import HouseRequest
from appliance.tools.confirmation import Asker
from appliance.tools.spoken_time import ClockReading
from appliance.tools.table import TOOLS as TABLE
from appliance.tools.timers import MOST, Timer, Timers
from appliance.tools.tool_call_syntax import ToolCall, Value
from appliance.tools.toolbox import (
    TOOLS,
    Toolbox,
    ToolContext,
    ToolResult,
    missed_sentence,
    ringing_sentence,
)

ASK_AGAIN = english().say("forget-all-again")
HOUSE_AWAY = english().say("house-away")
NO_HOUSE = english().say("house-none")
NOTHING_SAID = english().say("nothing-said")
UNCLEAR = english().say("tool-unclear")
UNKNOWN = english().say("tool-unknown")

NOW = ClockReading(1000.0, datetime(2026, 11, 21, 9, 10, tzinfo=UTC).timestamp(), UTC)


def of_turn(bench: Bench, turn: int) -> Bench:
    """Let the next calls belong to the answer of this turn."""
    bench.about = replace(bench.about, asker=Asker(turn))
    return bench


def later(seconds: float) -> ClockReading:
    return ClockReading(NOW.boot_s + seconds, NOW.wall_s + seconds, UTC)


class Bench:
    """A toolbox with its context of the conversation."""

    def __init__(self, about: ToolContext | None = None) -> None:
        self.box = Toolbox(Timers())
        self.about = about or ToolContext()

    def use(self, tool: str, now: ClockReading = NOW, /, **arguments: Value) -> ToolResult:
        return self.box.run(ToolCall(tool, arguments), now, self.about)

    def says(self, tool: str, now: ClockReading = NOW, /, **arguments: Value) -> str:
        outcome = self.use(tool, now, **arguments)
        assert outcome.lines is not None
        return " ".join(outcome.lines)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_toolbox_has_exactly_the_tools_of_the_table() -> None:
    assert set(TOOLS) == {tool.name for tool in TABLE}


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("time", {}, "It is ten past nine."),
        ("date", {}, "It is Saturday, the twenty-first of November."),
        ("timer", {"minutes": 5}, "Five minutes, from now."),
        ("timer", {"minutes": "five"}, "Five minutes, from now."),
        ("timer", {"minutes": 0.5}, "Thirty seconds, from now."),
        ("timer", {"minutes": 12, "name": "Eggs"}, "Eggs: twelve minutes, from now."),
        ("alarm", {"at": "07:30"},
         "The alarm is set for tomorrow at half past seven in the morning."),
        ("alarm", {"at": "21:00", "name": "pills"},
         "Pills: the alarm is set for nine o'clock in the evening."),
        ("timers", {}, "There is no timer and no alarm."),
        ("cancel_timer", {}, "There is no timer."),
        ("cancel_timer", {"name": "eggs"}, "There is no timer called eggs."),
        ("volume", {"change": "up"}, "Louder."),
        ("volume", {"change": "DOWN"}, "Softer."),
        ("volume", {"percent": 40}, "Like this."),
        ("repeat", {}, NOTHING_SAID),
        ("home", {"command": "turn on the light"}, NO_HOUSE),
    ],
)  # fmt: skip
def test_a_tool_answers_with_its_sentence(
    bench: Bench, name: str, arguments: dict[str, Value], sentence: str
) -> None:
    assert bench.says(name, **arguments) == sentence


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("timer", {}), ("timer", {"minutes": "soon"}), ("timer", {"minutes": 0}),
        ("timer", {"minutes": -5}), ("timer", {"minutes": 1e6}), ("timer", {"minutes": 1e300}),
        ("timer", {"minutes": 1e307}),
        ("timer", {"minutes": float("nan")}), ("timer", {"minutes": float("inf")}),
        ("alarm", {}), ("alarm", {"at": "soon"}), ("alarm", {"at": 25}),
        ("volume", {}), ("volume", {"change": "sideways"}), ("nonsense", {}), ("__init__", {}),
    ],
)  # fmt: skip
def test_invalid_arguments_have_no_effect_and_an_answer(
    bench: Bench, name: str, arguments: dict[str, Value]
) -> None:
    outcome = bench.use(name, **arguments)
    assert outcome.lines
    assert outcome.messages == ()
    assert bench.box.timers.all == ()
    assert "soon" not in outcome.lines[0]


def test_an_unknown_tool_is_reported(bench: Bench) -> None:
    assert bench.says("launch_rocket") == UNKNOWN


def test_timers_are_listed_in_the_order_in_which_they_are_due(bench: Bench) -> None:
    bench.use("timer", minutes=10)
    bench.use("timer", minutes=5, name="tea")
    bench.use("alarm", at="07:30")
    assert bench.says("timers", later(60.0)) == (
        "Tea: four minutes left. Nine minutes left. "
        "An alarm for tomorrow at half past seven in the morning."
    )


def test_a_timer_is_cancelled_by_name_or_else_the_newest(bench: Bench) -> None:
    bench.use("timer", minutes=10, name="eggs")
    bench.use("timer", minutes=5)
    assert bench.says("cancel_timer", name="Eggs!") == "Eggs: the timer is off."
    assert bench.says("cancel_timer") == "The timer is off."
    assert bench.box.timers.all == ()


def test_cancelling_while_a_timer_rings_stops_only_the_ringing(bench: Bench) -> None:
    bench.use("timer", minutes=5)
    bench.use("timer", minutes=10)
    bench.box.timers.advance(later(301.0))
    assert bench.says("cancel_timer", later(302.0), name="the timer") == "All right."
    assert not bench.box.timers.ringing
    assert len(bench.box.timers.waiting) == 1


def test_another_timer_can_be_cancelled_by_name_while_one_rings(bench: Bench) -> None:
    bench.use("timer", minutes=5, name="tea")
    bench.use("timer", minutes=10, name="eggs")
    bench.box.timers.advance(later(301.0))
    assert bench.says("cancel_timer", later(302.0), name="egg timer") == "Eggs: the timer is off."
    assert bench.box.timers.ringing
    assert bench.says("cancel_timer", later(303.0), name="tea") == "All right."


def test_the_number_of_timers_is_limited(bench: Bench) -> None:
    for minutes in range(MOST):
        bench.use("timer", minutes=minutes + 1)
    assert bench.says("timer", minutes=99).startswith("I have twenty of them already.")
    assert bench.says("alarm", at="7:00").startswith("I have twenty of them already.")
    assert len(bench.box.timers.all) == MOST


@pytest.mark.parametrize(
    ("now", "arguments", "then", "sentence"),
    [
        (0.5, {"change": "up"}, 0.65, "Louder."),
        (0.5, {"change": "down"}, 0.35, "Softer."),
        (0.95, {"change": "up"}, 1.0, "Louder."),
        (1.0, {"change": "up"}, None, "I cannot speak any louder."),
        (0.05, {"change": "down"}, None, "I cannot speak any softer."),
        (0.5, {"percent": 0}, 0.05, "Like this."),  # always loud enough to hear the box and undo it
        (0.5, {"percent": 900}, 1.0, "Like this."),
    ],
)
def test_the_volume_stays_in_its_range(
    now: float, arguments: dict[str, Value], then: float | None, sentence: str
) -> None:
    bench = Bench(ToolContext(volume=now))
    outcome = bench.use("volume", **arguments)
    assert outcome.lines == (sentence,)
    assert outcome.messages == (() if then is None else (SetVolume(then),))


def test_repeat_returns_all_sentences_of_the_last_answer() -> None:
    bench = Bench(ToolContext(last=("The moon is grey.", "It has no air.")))
    assert bench.use("repeat").lines == ("The moon is grey.", "It has no air.")


def test_the_last_turn_is_forgotten_without_confirmation(bench: Bench) -> None:
    assert bench.use("forget").messages == (Forget(last=True, aloud=True),)


def test_forgetting_everything_needs_a_second_request_in_time(bench: Bench) -> None:
    assert bench.says("forget", what="everything") == ASK_AGAIN
    outcome = of_turn(bench, 1).use("forget", later(20.0), what="everything")
    assert outcome.messages == (Forget(aloud=True),)
    assert of_turn(bench, 2).says("forget", later(30.0), what="everything") == ASK_AGAIN
    assert of_turn(bench, 3).says("forget", later(100.0), what="everything") == ASK_AGAIN, (
        "too late"
    )


def test_repeated_forget_calls_within_one_answer_do_not_confirm(bench: Bench) -> None:
    for _ in range(3):
        assert bench.says("forget", what="everything") == ASK_AGAIN
    assert of_turn(bench, 1).use("forget", what="everything").messages == (Forget(aloud=True),)


def test_an_alarm_for_tomorrow_is_marked_as_tomorrow(bench: Bench) -> None:
    bench.use("alarm", at="tomorrow 17:00")
    bench.use("alarm", at="17:00")
    assert [timer.tomorrow for timer in bench.box.timers.waiting] == [True, False]


def test_a_command_to_the_house_is_cleaned_and_limited() -> None:
    bench = Bench(ToolContext(house=True))
    assert bench.use("home", command="turn on\nthe light<|turn>").house == HouseRequest(
        1, "turn on the light"
    )
    assert bench.use("home", command="x " * 500).house == HouseRequest(2, ("x " * 100).strip())
    assert bench.says("home") == UNCLEAR
    assert bench.says("home", command="<|turn>") == UNCLEAR


def test_a_house_that_is_not_connected_gets_no_request() -> None:
    bench = Bench(ToolContext(house=False))
    assert bench.says("home", command="turn on the light") == HOUSE_AWAY


@pytest.mark.parametrize(
    ("timer", "sentence"),
    [
        (Timer(1, "", 300.0, 1000.0), "Your timer is done: five minutes."),
        (Timer(1, "eggs", 300.0, 1000.0), "Your timer is done: eggs."),
        (Timer(1, "", due_wall_s=NOW.wall_s), "It is ten past nine. Your alarm."),
        (Timer(1, "pills", due_wall_s=NOW.wall_s), "It is ten past nine: pills."),
    ],
)
def test_a_ringing_timer_is_announced_with_its_name_or_duration(
    timer: Timer, sentence: str
) -> None:
    assert ringing_sentence(timer, NOW, english()) == sentence


def test_a_missed_timer_is_announced_with_the_time_it_was_due() -> None:
    now = later(3600.0)
    timer, alarm = Timer(1, "eggs", 300.0, 1000.0), Timer(2, due_wall_s=NOW.wall_s)
    assert missed_sentence(timer, now, english()) == (
        "While I was off, your timer, eggs, ran out at ten past nine in the morning."
    )
    assert (
        missed_sentence(alarm, now, english())
        == "While I was off, your alarm was due at ten past nine in the morning."
    )


values = st.one_of(st.text(max_size=30), st.integers(), st.floats())


@given(
    st.lists(
        st.tuples(
            st.one_of(st.sampled_from(sorted(TOOLS)), st.text(max_size=10)),
            st.dictionaries(
                st.one_of(st.sampled_from(["minutes", "name", "at", "change", "percent", "what",
                                           "command"]), st.text(max_size=5)),
                values,
                max_size=3,
            ),
        ),
        max_size=12,
    ),
    st.floats(0, 1),
)  # fmt: skip
@pytest.mark.long
def test_any_calls_of_a_model_give_speakable_answers(
    calls: list[tuple[str, dict[str, Value]]], volume: float
) -> None:
    bench = Bench(ToolContext(volume=volume, house=True))
    for name, arguments in calls:
        outcome = bench.box.run(ToolCall(name, arguments), NOW, bench.about)
        assert (outcome.lines is None) == bool(
            outcome.house or (outcome.messages and name == "forget")
        )
        for line in outcome.lines or ():
            assert line.isprintable()
            assert line[-1] in ".!?"
            assert len(line) < 300
        for message in outcome.messages:
            encode(message)
        if outcome.house:
            encode(outcome.house)
