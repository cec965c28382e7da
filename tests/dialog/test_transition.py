"""A step's operations: a question waits until it is known what was heard of the last answer."""

from __future__ import annotations

from appliance.dialog.actions import Remember, UseTool
from appliance.dialog.on_tool import ToolReply
from appliance.dialog.state_machine import Tick
from appliance.language.catalogue import english
from appliance.messages.commands import (
    Ask,
    Say,
    StopSpeaking,
)
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict, WordsHeard
from appliance.messages.limits import MAX_ANSWER
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import EndAnswer, Speak, Spoken
from appliance.messages.thinking import (
    Abandon,
    AnswerHeard,
    Sentence,
    Think,
    ThoughtEnded,
)
from appliance.messages.tools import ToolAnswered
from appliance.tools.tool_call_syntax import ToolCall
from tests.dialog.talk import BEGUN, RULES, Talk, spoken, talk_in

LOST_THREAD = english().say("lost-thread")
NOT_READY = english().say("not-ready")


def test_a_question_in_two_pieces_is_remembered_as_one_turn() -> None:
    talk = Talk()
    talk(Ask("about the moon"))
    talk(Ask("or the sea"))
    talk.answer("The sea is wet.")
    talk.finish()
    remembered = talk.done(Remember)
    assert [(m.asked, m.heard) for m in remembered] == [
        ("about the moon or the sea", "The sea is wet.")
    ]


def test_the_question_of_an_answer_cut_before_its_first_word_is_kept() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300), PlaybackStopped(2, 100, 0))
    assert (talk.sent(AnswerHeard, ever=True), talk.remembered()) == ([], [])


# ── races between the old answer and the new question ────────────────────────────────────────
def quick_interruption() -> Talk:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 3 * 16_000, 0))
    talk(Verdict(2, "interruption", 300), SpeechEnded(2, 0, 16_000, last=True))
    return talk


def test_the_next_question_waits_until_it_is_known_what_was_heard() -> None:
    talk = quick_interruption()
    assert (talk.state, talk.sent(Think)) == ("thinking", [])
    talk(PlaybackStopped(2, 4 * 16_000, 0), after_s=0.05)
    assert [type(m) for m in talk.sent(object)] == [AnswerHeard, Think]
    assert talk.sent(AnswerHeard)[0].text == "The moon is grey. It has no air."


def test_the_wait_for_what_was_heard_has_a_short_timeout() -> None:
    talk = quick_interruption()
    talk(Tick(), after_s=RULES.stopped_s + 0.01)
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, "The moon is grey. It has", complete=False)]
    assert talk.sent(Think) == [Think(4, (2,))]
    assert talk(PlaybackStopped(2, 4 * 16_000, 0)) == []  # too late


def test_a_waiting_question_that_is_overtaken_still_reaches_the_thinker() -> None:
    talk = quick_interruption()
    talk(SpeechStarted(3, 3, 0))
    assert [type(m) for m in talk.sent(object)] == [AnswerHeard, Think, Abandon]


# ── commands ─────────────────────────────────────────────────────────────────────────────────
def test_a_stopped_question_is_not_answered_later() -> None:
    talk = talk_in("listening")
    talk(StopSpeaking(), SpeechEnded(1, 0, 16_000, last=True))
    assert (talk.state, talk.sent(Think)) == ("idle", [])


def test_a_question_that_was_stopped_is_not_asked_again() -> None:
    talk = talk_in("thinking")
    talk(StopSpeaking())
    assert talk.sent(object) == [Abandon(2), AnswerHeard(2, "", complete=False)]


def test_stop_closes_the_question_that_the_thinker_kept() -> None:
    talk = talk_in("thinking")
    talk(BEGUN, StopSpeaking())
    assert talk.sent(object) == [Abandon(2), AnswerHeard(2, "", complete=False)]


def test_announcements_wait_until_nothing_else_plays() -> None:
    talk = talk_in("speaking")
    talk(Say("Tea."), Say("Cake."))
    assert talk.sent(Speak) == []
    talk.finish()
    assert talk.sent(Speak)[0].text == "Tea."
    talk(PlaybackStarted(talk.turn, 0))
    talk.finish()
    assert talk.sent(Speak)[0].text == "Cake."
    assert talk.sent(AnswerHeard) == []


def test_an_announcement_does_not_begin_over_an_onset() -> None:
    talk = Talk()
    talk(Onset(1, 0, speaking=False), Say("Tea."))
    assert talk.sent(Speak) == []
    talk(Verdict(1, "noise", 150))
    assert talk.sent(Speak)[0].text == "Tea."


# ── without a model ──────────────────────────────────────────────────────────────────────────
def test_a_plain_request_is_answered_while_the_model_loads() -> None:
    talk = Talk(ready=False)
    talk(Ask("What time is it?"))
    call = UseTool(talk.turn, 0, ToolCall("time"), "typed", words="What time is it?")
    assert talk.done(UseTool) == [call]
    talk(ToolReply(talk.turn, 0, ("It is ten past nine.",)))
    assert spoken(talk) == ["It is ten past nine."]
    assert talk.sent(EndAnswer)
    turn = talk.turn
    talk(Spoken(turn, 0, 0, 16_000, 5.0), PlaybackStarted(turn, 0), after_s=0.2)
    talk(PlaybackFinished(turn, 16_000, 0), after_s=1.0)
    assert talk.state == "idle"
    assert not talk.sent(Think, ever=True)
    assert not talk.sent(AnswerHeard, ever=True)
    assert not talk.sent(ToolAnswered, ever=True)


def test_a_request_that_needs_the_model_gets_the_not_ready_sentence() -> None:
    talk = Talk(ready=False)
    talk(Ask("Why is the sky blue?"))
    assert spoken(talk) == [NOT_READY]


def test_words_recognised_without_the_model_suffice_for_a_plain_request() -> None:
    talk = Talk(ready=False)
    talk(WordsHeard(1, 900, "what time is it", "other"))
    talk.speech(1)
    call = UseTool(talk.turn, 0, ToolCall("time"), words="what time is it")
    assert talk.done(UseTool) == [call]
    talk = Talk(ready=False)
    talk(WordsHeard(1, 900, "what time is it", "other"))
    talk.speech(2)  # those words belong to another utterance
    assert spoken(talk) == [NOT_READY]


def test_a_plain_request_is_answered_in_place_of_a_failed_model() -> None:
    talk = Talk()
    talk(Ask("what time is it"))
    turn = talk.turn
    talk(ThoughtEnded(turn, 0, "failed", "broken"))
    call = UseTool(turn, 0, ToolCall("time"), "typed", words="what time is it")
    assert talk.done(UseTool) == [call]
    talk(ToolReply(turn, 0, ("It is ten past nine.",)))
    assert spoken(talk) == ["It is ten past nine."]
    assert talk.sent(EndAnswer)
    talk = Talk()
    talk(Ask("why is the sky blue"), ThoughtEnded(talk.turn + 1, 0, "failed", "broken"))
    assert LOST_THREAD in spoken(talk)


def test_an_answer_over_the_length_limit_is_truncated_and_counts_as_cut() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    for number in range(100):
        talk(Sentence(turn, number, "x" * 300))
        talk(Spoken(turn, number, 16_000 * number, 16_000, 5.0))
    talk(ThoughtEnded(turn, 100, "complete"), PlaybackStarted(turn, 0), after_s=0.2)
    talk(PlaybackFinished(turn, 1_600_000, 0), after_s=100.0)
    (heard,) = talk.sent(AnswerHeard)
    assert MAX_ANSWER - 301 < len(heard.text) <= MAX_ANSWER
    assert not heard.complete
    assert sum(map(len, talk.it.last_lines)) <= MAX_ANSWER  # what "say that again" says
