"""An enrolment through the conductor: asked aloud, only at rest, and ended with whoever dies."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.dialog.on_trial import PlaySound
from appliance.dialog.table import STATES
from appliance.messages.commands import Mute, StopSpeaking
from appliance.messages.enrolling import (
    WORDS,
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    LearnEnrolment,
    OwnerVoiceChanged,
    TakeJudged,
)
from appliance.messages.speech import Speak
from appliance.messages.supervision import PartChanged
from appliance.messages.trying import EndTrial, SoundRecording, TrialRefused
from tests.dialog.talk import Talk, talk_in
from tests.dialog.test_trial_relay import Mail

ASK = AskTake(7, 1, "wait")


def begun(talk: Talk) -> Mail:
    mail = Mail()
    assert mail(talk, BeginEnrolment(7)) == ()
    assert mail.sent == [("listener", BeginEnrolment(7))]
    return mail


def test_at_rest_the_word_is_asked_for_aloud_and_the_listener_records_it() -> None:
    talk = Talk()
    mail = begun(talk)
    assert mail(talk, ASK) == (PlaySound("", "Say: wait"),)
    assert mail.sent == [("listener", ASK)]
    assert mail(talk, TakeJudged(7, 1, None), peer="listener") == ()
    assert mail.sent == [("page", TakeJudged(7, 1, None))]


def test_the_question_sounds_as_an_announcement() -> None:
    talk = Talk()
    (sound,) = begun(talk)(talk, ASK)
    talk(sound)
    (said,) = talk.sent(Speak)
    assert said.text == "Say: wait"
    assert talk.it.state == "speaking"


@pytest.mark.parametrize("word", WORDS)
def test_it_is_asked_in_the_boxs_language_with_what_was_wrong_before(word: Any) -> None:
    talk = Talk(language="de")
    (sound,) = begun(talk)(talk, AskTake(7, 1, word, first=True, fault="short"))
    assert sound.text.startswith("Ich möchte lernen")
    assert "Das war zu kurz. Sag: " in sound.text


@pytest.mark.parametrize("state", sorted(set(STATES) - {"idle", "muted", "failed"}))
def test_while_somebody_talks_it_is_refused(state: Any) -> None:
    talk = talk_in(state)
    mail = begun(talk)
    assert mail(talk, ASK) == ()
    assert mail.sent == [("page", TrialRefused(7, "busy"))]


def test_a_muted_box_refuses_it() -> None:
    talk = Talk()
    mail = begun(talk)
    talk(Mute(on=True))
    mail(talk, ASK)
    assert mail.sent == [("page", TrialRefused(7, "muted"))]


def test_a_question_of_an_enrolment_that_was_ended_is_not_asked() -> None:
    talk = Talk()
    mail = begun(talk)
    assert mail(talk, EndTrial(7)) == ()
    assert mail.sent == [("listener", EndTrial(7))]
    assert mail(talk, ASK) == ()
    assert mail.sent == [("page", TrialRefused(7, "no-microphone"))]


def test_ending_it_cuts_the_question() -> None:
    talk = Talk()
    mail = begun(talk)
    (sound,) = mail(talk, ASK)
    talk(sound)
    assert mail(talk, EndTrial(7)) == (StopSpeaking(),)


@pytest.mark.parametrize("outcome", ["kept", "no-better", "too-few", "contradict", "failed"])
def test_what_came_of_it_is_said_once(outcome: Any) -> None:
    talk = Talk()
    mail = begun(talk)
    mail(talk, LearnEnrolment(7))
    assert mail.sent == [("listener", LearnEnrolment(7))]
    learnt = EnrolmentLearnt(7, outcome)
    (sound,) = mail(talk, learnt, peer="listener")
    assert sound.text
    assert mail.sent == [("page", learnt)]
    assert mail(talk, learnt, peer="listener") == ()


def test_nobody_but_the_page_has_anything_enrolled_or_forgotten() -> None:
    mail, talk = Mail(), Talk()
    for wanted in (BeginEnrolment(7), ASK, LearnEnrolment(7), OwnerVoiceChanged()):
        assert mail(talk, wanted, peer="link") == ()
        assert mail.sent == []
    assert mail(talk, TakeJudged(7, 1, None), peer="words") == ()
    assert mail.sent == []
    mail(talk, OwnerVoiceChanged())
    assert mail.sent == [("listener", OwnerVoiceChanged())]


def test_a_listener_that_dies_ends_it_with_the_light() -> None:
    talk = Talk()
    mail = begun(talk)
    mail(talk, SoundRecording(7, on=True), peer="listener")
    assert mail(talk, PartChanged("listener", "down"), peer="supervisor") is None
    assert mail.sent == [
        ("panel", SoundRecording(7, on=False)),
        ("page", SoundRecording(7, on=False)),
        ("page", EnrolmentLearnt(7, "failed")),
    ]
    mail(talk, PartChanged("listener", "down"), peer="supervisor")
    assert mail.sent == []


def test_a_page_that_dies_ends_it() -> None:
    talk = Talk()
    mail = begun(talk)
    mail(talk, PartChanged("page", "down"), peer="supervisor")
    assert mail.sent == [("listener", EndTrial(7))]
