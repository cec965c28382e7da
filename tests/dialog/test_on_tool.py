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
    """The model calls a tool while it thinks."""
    talk(ToolCalled(talk.turn, number, name, {"minutes": 5}))
    request = ToolCall(name, {"minutes": 5})
    assert talk.done(UseTool) == [UseTool(talk.turn, number, request)]


@pytest.mark.parametrize(
    ("written", "words"),
    [("The **light** is [on](http://box/1) 💡.", "The light is on."), ("💡", "")],
)
def test_a_line_that_the_model_did_not_write_is_spoken_without_markup(
    written: str, words: str
) -> None:
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


def test_a_tools_own_answer_is_spoken_and_remembered_as_heard() -> None:
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


def test_sentences_before_and_after_a_tool_call_keep_their_order() -> None:
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


def test_a_continued_question_counts_as_one_question_for_the_confirmation_of_a_tool() -> None:
    talk = talk_in("thinking")
    question_turn = talk.turn
    called(talk, "home")
    talk(ToolReply(question_turn, 0, ("Ask once more.",)))
    for utterance in (2, 3):  # the question continues twice before any of the line is heard
        talk.speech(utterance)
        talk(PlaybackStopped(talk.turn - 1, 0, 0))
        talk(ToolCalled(talk.turn, 0, "home", {"minutes": 5}))
        (request,) = talk.done(UseTool)
        assert request.turn == talk.turn > question_turn
        assert request.asker.turn == question_turn
        talk(ToolReply(talk.turn, 0, ("Ask once more.",)))
    talk(Spoken(talk.turn, 0, 0, 16_000, 5.0), PlaybackStarted(talk.turn, 0), after_s=0.2)
    talk(ThoughtEnded(talk.turn, 0, "complete"), PlaybackFinished(talk.turn, 16_000, 0))
    talk.speech(4)
    talk(ToolCalled(talk.turn, 0, "home", {"minutes": 5}))
    (request,) = talk.done(UseTool)
    assert request.asker.turn == request.turn == talk.turn


def test_several_calls_run_one_after_the_other() -> None:
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
def test_a_call_of_a_dropped_answer_is_not_run(state: str) -> None:
    talk = talk_in(state)
    assert talk(ToolCalled(talk.turn, 0, "timer")) == []


def test_a_call_of_an_older_answer_is_not_run() -> None:
    talk = talk_in("thinking")
    assert talk(ToolCalled(talk.turn - 1, 0, "timer")) == []


def test_a_tool_reply_that_arrives_after_the_owner_went_on_is_dropped() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    called(talk, "home")
    talk.speech(2)
    assert talk.turn > turn
    assert talk(ToolReply(turn, 0, ("The light is on.",))) == []


def test_a_tool_reply_with_another_number_is_dropped() -> None:
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


def test_a_thinker_crash_after_its_call_does_not_drop_the_tools_reply() -> None:
    talk = talk_in("thinking")
    called(talk, "home")
    talk(PartChanged("thinker", "down"))
    assert spoken(talk) == []
    talk(ToolReply(talk.turn, 0, ("The light is on.",)))
    assert spoken(talk) == ["The light is on."]
    assert talk.sent(EndAnswer)
