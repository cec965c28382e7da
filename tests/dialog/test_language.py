"""In which language the box says what it says by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appliance.language.catalogue import catalogue
from appliance.messages.commands import Ask, Say
from appliance.messages.playback import PlaybackFinished, PlaybackStarted
from appliance.messages.speech import Speak, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import Sentence, ThoughtEnded
from tests.dialog.talk import RULES, Talk

FIXED = replace(RULES, follows_language=False)


def failed(talk: Talk, aloud: str = "") -> str:
    """What is said when the thinker fails at the next question."""
    talk(Ask("Wie spät ist es?"))
    talk(ThoughtEnded(talk.turn, 0, "failed", "out of memory", aloud=aloud))
    said = talk.sent(Speak)[-1].text
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 100, 100))
    return said


def answered(talk: Talk, language: str) -> None:
    """One answer of the model's, said in that language."""
    talk(Ask("Was ist der Mond?"))
    talk(Sentence(talk.turn, 0, "Der Mond ist nah."), ThoughtEnded(talk.turn, 1, "complete"))
    talk(Spoken(talk.turn, 0, 0, 16000, 10.0, language=language))
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16000, 16000))


def test_sentences_that_a_voice_passed_on_are_counted_and_told() -> None:
    talk = Talk()
    for _ in range(2):
        talk(Ask("What is the moon?"))
        talk(Sentence(talk.turn, 0, "It is near."), ThoughtEnded(talk.turn, 1, "complete"))
        talk(Spoken(talk.turn, 0, 0, 16000, 10.0, voice="hibari", passed_on=True))
        talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16000, 16000))
    answered(talk, "en")
    assert talk.it.passed_on == 2


@pytest.mark.parametrize("language", ["en", "de"])
def test_an_excuse_is_in_the_language_of_the_box(language: str) -> None:
    words = catalogue(language)
    talk = Talk(rules=FIXED, language=language)
    assert failed(talk) == words.say("lost-thread")
    assert failed(talk, "server-key") == words.say("server-key")


def test_a_german_box_without_a_thinker_says_so_in_german() -> None:
    talk = Talk(ready=False, language="de")
    talk(Ask("Wie spät ist es?"))
    assert talk.sent(Speak)[0].text == catalogue("de").say("not-ready")


def test_a_german_box_whose_card_is_broken_says_so_in_german() -> None:
    talk = Talk(language="de")
    talk(PartChanged("listener", "failed"))
    assert talk.sent(Speak)[0].text == "Mit mir stimmt etwas nicht. Was nicht arbeitet: mein Gehör."


def test_what_the_box_says_by_itself_follows_the_language_of_its_last_answer() -> None:
    talk = Talk()
    answered(talk, "de")
    assert failed(talk) == catalogue("de").say("lost-thread")
    answered(talk, "en")
    assert failed(talk) == catalogue("en").say("lost-thread")


def test_a_box_of_one_language_keeps_to_it_whatever_the_model_says() -> None:
    talk = Talk(rules=FIXED, language="de")
    answered(talk, "en")
    assert failed(talk) == catalogue("de").say("lost-thread")


@pytest.mark.parametrize("language", ["fr", "", "zz"])
def test_a_language_that_the_box_has_no_sentences_in_is_excused_in_english(language: str) -> None:
    talk = Talk()
    answered(talk, language)
    assert failed(talk) == catalogue("en").say("lost-thread")


def test_what_others_have_it_say_changes_no_language() -> None:
    talk = Talk()
    talk(Say("Das Essen ist fertig."))
    talk(Spoken(talk.turn, 0, 0, 16000, 10.0, language="de"))
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16000, 16000))
    assert failed(talk) == catalogue("en").say("lost-thread")


def test_an_excuse_that_is_not_known_is_the_usual_one() -> None:
    assert failed(Talk(), "no-such-key") == catalogue("en").say("lost-thread")
