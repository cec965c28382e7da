"""The model calls a tool in the middle of its answer."""

from __future__ import annotations

import pytest

from appliance.dialog.actions import UseTool
from appliance.dialog.on_tool import Ringing, ToolReply
from appliance.language.catalogue import english
from appliance.messages.commands import Say
from appliance.messages.playback import PlaybackFinished, PlaybackStarted, PlaybackStopped
from appliance.messages.speech import EndAnswer, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import AnswerHeard, Sentence, ThoughtEnded
from appliance.messages.tools import ToolAnswered, ToolCalled
from appliance.tools.tool_call_syntax import ToolCall
from tests.dialog.talk import Talk, spoken, talk_in

LOST_THREAD = english().say("lost-thread")

SPOKEN = "Five minutes, from now."


def called(talk: Talk, name: str = "timer", number: int = 0) -> None:
    """In thought the model calls a tool."""
    talk(ToolCalled(talk.turn, number, name, {"minutes": 5}))
    wanted = ToolCall(name, {"minutes": 5})
    assert talk.done(UseTool) == [UseTool(talk.turn, number, wanted)]


@pytest.mark.parametrize(
    ("written", "words"),
    [("The **light** is [on](http://box/1) 💡.", "The light is on."), ("💡", "")],
)
def test_a_line_that_is_not_the_models_is_spoken_without_markup(written: str, words: str) -> None:
    talk = talk_in("thinking")
    called(talk)
    talk(ToolReply(talk.turn, 0, (written,)))
    assert spoken(talk) == [words]
    talk = Talk()
    talk(Say(written))
    assert spoken(talk) == [words]
    talk = Talk()
    talk(Ringing((written,)))
    assert spoken(talk) == [words]


def test_a_tool_answers_by_itself_and_is_remembered_as_heard() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    called(talk)
    talk(ToolReply(turn, 0, (SPOKEN,)))
    assert spoken(talk) == [SPOKEN]
    assert talk.sent(ToolAnswered) == [ToolAnswered(turn, 0, SPOKEN)]
    talk(ThoughtEnded(turn, 0, "complete"))
    assert talk.sent(EndAnswer)
    talk(Spoken(turn, 0, 0, 16_000, 5.0), PlaybackStarted(turn, 0), after_s=0.2)
    talk(PlaybackFinished(turn, 16_000, 0), after_s=1.0)
    assert talk.sent(AnswerHeard) == [AnswerHeard(turn, SPOKEN, complete=True)]
    assert talk.remembered() == [(SPOKEN, True)]
    assert talk.state == "idle"


def test_what_comes_before_and_after_a_call_is_said_before_and_after_it() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    talk(Sentence(turn, 0, "Sure."))
    called(talk, "home")
    talk(Sentence(turn, 1, "And now?"), ThoughtEnded(turn, 2, "complete"))
    assert spoken(talk) == []
    assert not talk.sent(EndAnswer)
    talk(ToolReply(turn, 0, ("The light is on.",)))
    assert spoken(talk) == ["The light is on.", "And now?"]
    assert talk.sent(EndAnswer)


def test_a_question_that_goes_on_is_the_same_one_for_what_is_to_be_asked_for_twice() -> None:
    talk = talk_in("thinking")
    question_turn = talk.turn
    called(talk, "home")
    talk(ToolReply(question_turn, 0, ("Ask once more.",)))
    for utterance in (2, 3):  # it goes on twice, before anything of the line is heard
        talk.speech(utterance)
        talk(PlaybackStopped(talk.turn - 1, 0, 0))
        talk(ToolCalled(talk.turn, 0, "home", {"minutes": 5}))
        (wanted,) = talk.done(UseTool)
        assert wanted.turn == talk.turn > question_turn
        assert wanted.question_turn == question_turn
        talk(ToolReply(talk.turn, 0, ("Ask once more.",)))
    talk(Spoken(talk.turn, 0, 0, 16_000, 5.0), PlaybackStarted(talk.turn, 0), after_s=0.2)
    talk(ThoughtEnded(talk.turn, 0, "complete"), PlaybackFinished(talk.turn, 16_000, 0))
    talk.speech(4)
    talk(ToolCalled(talk.turn, 0, "home", {"minutes": 5}))
    (wanted,) = talk.done(UseTool)
    assert wanted.question_turn == wanted.turn == talk.turn


def test_several_calls_are_used_one_after_the_other() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    called(talk)
    talk(ToolCalled(turn, 1, "time"), ThoughtEnded(turn, 0, "complete"))
    assert talk.done(UseTool) == []
    talk(ToolReply(turn, 0, ("One.",)))
    assert talk.done(UseTool) == [UseTool(turn, 1, ToolCall("time"))]
    assert spoken(talk) == ["One."]
    talk(ToolReply(turn, 1, ("Two.",)))
    assert spoken(talk) == ["Two."]
    assert talk.sent(EndAnswer)


@pytest.mark.parametrize("state", ["idle", "listening", "muted", "failed"])
def test_a_call_of_an_answer_that_is_gone_is_not_used(state: str) -> None:
    talk = talk_in(state)
    assert talk(ToolCalled(talk.turn, 0, "timer")) == []


def test_a_call_of_an_older_answer_is_not_used() -> None:
    talk = talk_in("thinking")
    assert talk(ToolCalled(talk.turn - 1, 0, "timer")) == []


def test_an_answer_that_comes_after_the_owner_went_on_is_dropped() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    called(talk, "home")
    talk.speech(2)
    assert talk.turn > turn
    assert talk(ToolReply(turn, 0, ("The light is on.",))) == []


def test_one_of_another_number_is_dropped() -> None:
    talk = talk_in("thinking")
    called(talk, "home")
    assert talk(ToolReply(talk.turn, 1, ("The light is on.",))) == []


def test_a_tool_that_never_answers_does_not_hang_the_box() -> None:
    talk = talk_in("thinking")
    called(talk, "home")
    talk(ThoughtEnded(talk.turn, 0, "complete"))
    talk.wait(40.0)
    assert LOST_THREAD in spoken(talk, ever=True)
    assert talk(ToolReply(talk.turn, 0, ("The light is on.",))) == []


def test_a_thinker_that_dies_after_its_call_does_not_take_the_tools_answer_with_it() -> None:
    talk = talk_in("thinking")
    called(talk, "home")
    talk(PartChanged("thinker", "down"))
    assert spoken(talk) == []
    talk(ToolReply(talk.turn, 0, ("The light is on.",)))
    assert spoken(talk) == ["The light is on."]
    assert talk.sent(EndAnswer)
