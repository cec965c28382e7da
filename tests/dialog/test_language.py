"""The language of the box's own sentences."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from appliance.dialog.actions import UseTool
from appliance.dialog.on_answer import OwnerLanguage
from appliance.language.catalogue import catalogue
from appliance.messages.commands import Ask, Say
from appliance.messages.playback import PlaybackFinished, PlaybackStarted
from appliance.messages.speech import Speak, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import Sentence, ThoughtEnded, Transcribed
from appliance.messages.tools import ToolCalled
from appliance.tools.tool_call_syntax import ToolCall
from tests.dialog.talk import RULES, Talk

FIXED = replace(RULES, follows_language=False)


def failed(talk: Talk, aloud: str = "") -> str:
    """The sentence spoken when the thinker fails at the next question."""
    talk(Ask("Xylophon?"))  # no detectable language
    talk(ThoughtEnded(talk.turn, 0, "failed", "out of memory", aloud=aloud))
    said = talk.sent(Speak)[-1].text
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 100, 100))
    return said


def answered(talk: Talk, language: str) -> None:
    """One answer of the model, spoken in this language."""
    talk(Ask("Was ist der Mond?"))
    talk(Sentence(talk.turn, 0, "Der Mond ist nah."), ThoughtEnded(talk.turn, 1, "complete"))
    talk(Spoken(talk.turn, 0, 0, 16000, 10.0, language=language))
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16000, 16000))


def test_sentences_passed_on_by_a_voice_are_counted() -> None:
    talk = Talk()
    for _ in range(2):
        talk(Ask("What is the moon?"))
        talk(Sentence(talk.turn, 0, "It is near."), ThoughtEnded(talk.turn, 1, "complete"))
        talk(Spoken(talk.turn, 0, 0, 16000, 10.0, voice="hibari", passed_on=True))
        talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16000, 16000))
    answered(talk, "en")
    assert talk.it.passed_on == 2


@pytest.mark.parametrize("language", ["en", "de"])
def test_an_apology_is_in_the_language_of_the_box(language: str) -> None:
    words = catalogue(language)
    talk = Talk(rules=FIXED, language=language)
    assert failed(talk) == words.say("lost-thread")
    assert failed(talk, "server-key") == words.say("server-key")


def test_a_german_box_without_a_thinker_says_so_in_german() -> None:
    talk = Talk(ready=False, language="de")
    talk(Ask("Wie hoch ist der Himmel?"))
    assert talk.sent(Speak)[0].text == catalogue("de").say("not-ready")


def test_a_german_box_whose_card_is_broken_says_so_in_german() -> None:
    talk = Talk(language="de")
    talk(PartChanged("listener", "failed"))
    assert talk.sent(Speak)[0].text == "Mit mir stimmt etwas nicht. Was nicht arbeitet: mein Gehör."


def test_the_boxs_own_sentences_follow_the_language_of_its_last_answer() -> None:
    talk = Talk()
    answered(talk, "de")
    assert failed(talk) == catalogue("de").say("lost-thread")
    answered(talk, "en")
    assert failed(talk) == catalogue("en").say("lost-thread")


def test_a_monolingual_box_keeps_its_language_whatever_the_model_says() -> None:
    talk = Talk(rules=FIXED, language="de")
    answered(talk, "en")
    assert failed(talk) == catalogue("de").say("lost-thread")


@pytest.mark.parametrize("language", ["fr", "zz"])
def test_apologies_in_an_unsupported_language_fall_back_to_english(language: str) -> None:
    talk = Talk()
    answered(talk, language)
    assert failed(talk) == catalogue("en").say("lost-thread")


@pytest.mark.parametrize(
    ("asked", "language"),
    [("Wie hoch ist der Himmel?", "de"), ("How high is the sky?", "en"), ("Xylophon?", "en")],
)
def test_before_the_first_answer_the_box_speaks_the_language_of_the_typed_question(
    asked: str, language: str
) -> None:
    talk = Talk(ready=False)
    talk(Ask(asked))
    assert talk.sent(Speak)[0].text == catalogue(language).say("not-ready")


def test_a_tools_first_answer_is_in_the_language_of_the_typed_question() -> None:
    talk = Talk()
    talk(Ask("Kannst du mir sagen, wie spät es gerade ist?"))
    talk(ToolCalled(talk.turn, 0, "time", {}))
    assert [action.turn for action in talk.done(UseTool)] == [talk.turn]
    assert talk.it.language == "de"


def test_without_a_model_a_german_request_is_executed_and_answered_in_german() -> None:
    talk = Talk(ready=False)
    talk(Ask("Stell bitte einen Timer auf fünf Minuten."))
    (used,) = talk.done(UseTool)
    assert used.call == ToolCall("timer", {"minutes": 5.0})
    assert talk.it.language == "de"


def test_a_monolingual_box_executes_an_english_request_and_answers_in_its_own_language() -> None:
    talk = Talk(rules=FIXED, ready=False, language="de")
    talk(Ask("What time is it?"))
    assert talk.done(UseTool)[0].call == ToolCall("time")
    assert talk.it.language == "de"


def test_a_transcript_of_the_newest_question_sets_the_language_and_an_older_one_does_not() -> None:
    talk = Talk()
    answered(talk, "en")
    german = Transcribed(talk.turn, "stell einen Wecker auf sieben Uhr")
    talk(OwnerLanguage.of(msgspec.structs.replace(german, turn=talk.turn - 1)))
    assert talk.it.language == "en"
    talk(OwnerLanguage.of(german))
    assert talk.it.language == "de"
    talk(OwnerLanguage.of(Transcribed(talk.turn, "xylophon")))  # no detectable language
    assert talk.it.language == "de"


def test_announcements_do_not_change_the_language() -> None:
    talk = Talk()
    talk(Say("Das Essen ist fertig."))
    talk(Spoken(talk.turn, 0, 0, 16000, 10.0, language="de"))
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16000, 16000))
    assert failed(talk) == catalogue("en").say("lost-thread")


def test_an_unknown_failure_gets_the_default_apology() -> None:
    assert failed(Talk(), "no-such-key") == catalogue("en").say("lost-thread")
