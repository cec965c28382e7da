"""A command that may open something is sent once the owner has requested it twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.language.catalogue import english
from appliance.messages.commands import Opening
from appliance.messages.tools import HouseRequest
from appliance.tools.confirmation import (
    CONFIRM_S,
    Asker,
    ConfirmationGuard,
    Decision,
    refuses,
)
from appliance.tools.timers import Timers
from appliance.tools.tool_call_syntax import ToolCall
from appliance.tools.toolbox import MOST_REQUESTS, Toolbox, ToolContext, ToolResult
from tests.tools.test_toolbox import NOW, later

CALL_ME_FIRST = english().say("house-press-first")
PRESS = english().say("house-press-again")
LEFT = english().say("house-left")
ENOUGH = english().say("house-enough")

UNLOCK = "unlock the front door"
AGAIN = english().say("house-opens", command=UNLOCK)


class House:
    """A toolbox with the default guard; `asks` returns the house's command or the spoken lines."""

    def __init__(self, *more: str) -> None:
        self.box = Toolbox(Timers(), ConfirmationGuard(more))

    def use(
        self,
        command: str,
        turn: int = 1,
        after_s: float = 0.0,
        opening: Opening = "hand",
        words: str = "",
    ) -> ToolResult:
        context = ToolContext(house=True, asker=Asker(turn, opening, words))
        return self.box.run(ToolCall("home", {"command": command}), later(after_s), context)

    def asks(
        self,
        command: str,
        turn: int = 1,
        after_s: float = 0.0,
        opening: Opening = "hand",
        words: str = "",
    ) -> str:
        outcome = self.use(command, turn, after_s, opening, words)
        if outcome.house is not None:
            return outcome.house.text
        return " ".join(outcome.lines or ())


# ── twice ────────────────────────────────────────────────────────────────────────────────────────
def test_a_command_that_opens_is_sent_after_a_second_request_in_the_same_words() -> None:
    house = House()
    first = house.use(UNLOCK, turn=1)
    assert first.lines == (AGAIN,)
    assert first.confirms
    second = house.use("Unlock front door, please", turn=2, after_s=20.0)
    assert second.house == HouseRequest(1, "Unlock front door, please", confirmed=True)
    assert house.asks(UNLOCK, turn=3, after_s=25.0) == AGAIN, "each needs its own confirmation"


def test_the_box_repeats_what_it_is_about_to_open() -> None:
    assert UNLOCK in House().asks(UNLOCK)
    long = House().asks("open the gate " + "very " * 50)
    assert "open the gate very" in long
    assert len(long) < 250


def test_repeated_calls_within_one_answer_do_not_confirm() -> None:
    house = House()
    assert [house.asks(UNLOCK, turn=1) for _ in range(3)] == [AGAIN] * 3
    assert house.asks(UNLOCK, turn=2) == UNLOCK


def test_a_late_or_different_request_does_not_confirm() -> None:
    house = House()
    house.asks(UNLOCK, turn=1)
    back = "unlock the back door"
    assert house.asks(back, turn=2, after_s=5.0) == english().say("house-opens", command=back)
    assert house.asks(UNLOCK, turn=3, after_s=10.0) == AGAIN
    assert house.asks(UNLOCK, turn=4, after_s=10.0 + CONFIRM_S + 1) == AGAIN
    assert house.asks(UNLOCK, turn=5, after_s=15.0 + CONFIRM_S) == UNLOCK


OPENINGS: tuple[Opening, ...] = ("", "wake_word", "hand", "typed")
WORDS = ("", "no", "yes", "unlock the front door", "what is the moon")


@given(
    turns=st.lists(
        st.tuples(
            st.sampled_from((UNLOCK, "open the gate")),
            st.integers(0, 3),
            st.sampled_from(OPENINGS),
            st.sampled_from(WORDS),
        )
    )
)
def test_nothing_opens_unless_the_owner_chose_both_of_two_turns(
    turns: list[tuple[str, int, Opening, str]],
) -> None:
    """Whatever the model calls, and in whatever turns."""
    house, chosen = House(), set[tuple[str, int]]()
    turn = 0
    for command, step, opening, words in turns:
        turn += step
        outcome = house.use(command, turn, opening=opening, words=words)
        if outcome.house is not None:
            assert outcome.house.confirmed
            assert opening in ("hand", "typed") or "door" in words
            assert words != "no"
            assert any(before == command and at < turn for before, at in chosen)
        if opening:
            chosen.add((command, turn))


def test_speech_that_was_not_addressed_to_the_box_never_opens() -> None:
    house = House()
    for turn in range(5):
        assert house.asks(UNLOCK, turn, opening="") == CALL_ME_FIRST
    assert house.asks("turn on the light", 6, opening="") == "turn on the light"
    assert house.asks(UNLOCK, 7) == AGAIN, "overheard requests do not count"
    assert house.asks(UNLOCK, 8, opening="") == CALL_ME_FIRST, "nor does an overheard second one"
    assert house.asks(UNLOCK, 9) == UNLOCK


def test_one_answer_sends_at_most_three_requests_to_the_house() -> None:
    house = House()
    replies = [house.asks(f"turn on lamp {n}", turn=1) for n in range(8)]
    assert replies[:MOST_REQUESTS] == [f"turn on lamp {n}" for n in range(MOST_REQUESTS)]
    assert replies[MOST_REQUESTS:] == [ENOUGH] * (8 - MOST_REQUESTS)
    assert house.asks("turn on lamp 9", turn=2) == "turn on lamp 9"


# ── the owner's own words ────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("opening", "words", "result"),
    [
        ("hand", "", UNLOCK),
        ("hand", "yes", UNLOCK),
        ("hand", "unlock the front door", UNLOCK),
        ("hand", "no", LEFT),
        ("hand", "no don't do that", LEFT),
        ("hand", "Nein, lass das", LEFT),
        ("hand", "what is the weather today", PRESS),
        ("wake_word", "", PRESS),
        ("wake_word", "yes", PRESS),
        ("wake_word", "the front door", UNLOCK),
        ("wake_word", "not the front door", LEFT),
        ("typed", "yes, do it", UNLOCK),
        ("typed", "Ja bitte", UNLOCK),
        ("typed", "Mach die Haustür auf", UNLOCK),
        ("typed", "front", UNLOCK),
        ("typed", "no", LEFT),
        ("typed", "what is the weather?", PRESS),
    ],
)
def test_the_second_request_needs_the_owner_and_not_the_model_alone(
    opening: Opening, words: str, result: str
) -> None:
    house = House()
    house.asks(UNLOCK, turn=1)
    assert house.asks(UNLOCK, turn=2, opening=opening, words=words) == result


def test_after_a_no_the_request_begins_anew() -> None:
    house = House()
    house.asks(UNLOCK, turn=1)
    assert house.asks(UNLOCK, turn=2, words="no") == LEFT
    assert house.asks(UNLOCK, turn=3) == AGAIN


def test_a_request_that_still_needs_a_press_waits_for_it() -> None:
    house = House()
    house.asks(UNLOCK, turn=1)
    assert house.asks(UNLOCK, turn=2, opening="wake_word") == PRESS
    assert house.asks(UNLOCK, turn=3) == UNLOCK


@pytest.mark.parametrize(
    ("words", "command", "no"),
    [
        ("stop the siren", "stop the siren", False),
        ("stop", "turn off the siren", True),
        ("Schließ heute nicht ab", "schließ heute nicht ab", False),
        ("nicht", "öffne die Tür", True),
        ("DON’T!", UNLOCK, True),
        ("know", UNLOCK, False),
        ("", UNLOCK, False),
    ],
)
def test_a_refusal_is_a_word_that_the_request_does_not_have(
    words: str, command: str, no: bool
) -> None:
    assert refuses(words, command) == no


# ── the house's word ─────────────────────────────────────────────────────────────────────────────
SCENE = "start the scene good evening"


def house_reports(house: House, asker: Asker, name: str = "Garage", after_s: float = 0.0) -> str:
    context = ToolContext(house=True, asker=asker)
    result = house.box.ask_for_house(SCENE, name, later(after_s), context)
    assert result.confirms == (asker.opening != "")
    return " ".join(result.lines or ())


def test_what_the_house_reports_to_touch_a_lock_needs_a_second_request_too() -> None:
    house = House()
    assert house.use(SCENE, turn=1).house == HouseRequest(1, SCENE)
    said = house_reports(house, Asker(1, "wake_word"))
    assert said == english().say("house-touches", name="Garage")
    assert house.asks(SCENE, turn=2, opening="wake_word") == PRESS
    assert house.use(SCENE, turn=3).house == HouseRequest(2, SCENE, confirmed=True)
    assert house.use(SCENE, turn=4).house == HouseRequest(3, SCENE)


def test_what_the_house_reports_of_an_overheard_request_is_not_remembered() -> None:
    house = House()
    assert house_reports(house, Asker(1)) == CALL_ME_FIRST
    assert house.use(SCENE, turn=2).house == HouseRequest(1, SCENE), "asked as before"


def test_a_house_that_names_nothing_has_the_command_repeated() -> None:
    said = house_reports(House(), Asker(1, "hand"), name="")
    assert said == english().say("house-touches", name=SCENE)


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("command", "harmless"),
    [("turn on the light", False), ("is the door locked?", True), ("close the garage", False),
     ("turn on the light at the gate", True)],
)  # fmt: skip
def test_a_request_that_opens_nothing_is_sent_at_once_and_unchanged(
    command: str, harmless: bool
) -> None:
    sent = House().use(command, opening="").house
    assert sent == HouseRequest(1, command, confirmed=False, harmless=harmless)


def test_the_owners_own_words_need_a_second_request_as_well() -> None:
    assert House().asks("start the scene good evening") == "start the scene good evening"
    again = english().say("house-opens", command=SCENE)
    assert House("good evening").asks(SCENE) == again


def test_a_decision_without_a_pending_request_is_only_by_words() -> None:
    guard = ConfirmationGuard()
    assert guard.decide("turn on the light", Asker(), NOW.boot_s) == Decision.SEND
    assert guard.decide(UNLOCK, Asker(1, "hand"), NOW.boot_s) == Decision.ASK_AGAIN
    assert guard.decide("turn on the light", Asker(2), NOW.boot_s) == Decision.SEND
    asker = replace(Asker(3, "hand"), words="yes")
    assert guard.decide(UNLOCK, asker, NOW.boot_s) == Decision.CONFIRMED
