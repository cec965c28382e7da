"""Enrolment through the conductor: only while idle, and ended by a crash of listener or page."""

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


def test_an_idle_box_asks_for_the_word_aloud_and_the_listener_records_it() -> None:
    talk = Talk()
    mail = begun(talk)
    assert mail(talk, ASK) == (PlaySound("", "Say: wait"),)
    assert mail.sent == [("listener", ASK)]
    assert mail(talk, TakeJudged(7, 1, None), peer="listener") == ()
    assert mail.sent == [("page", TakeJudged(7, 1, None))]


def test_the_enrolment_prompt_is_an_announcement() -> None:
    talk = Talk()
    (sound,) = begun(talk)(talk, ASK)
    talk(sound)
    (said,) = talk.sent(Speak)
    assert said.text == "Say: wait"
    assert talk.it.state == "speaking"


@pytest.mark.parametrize("word", WORDS)
def test_the_prompt_is_in_the_boxs_language_and_names_the_previous_fault(word: Any) -> None:
    talk = Talk(language="de")
    (sound,) = begun(talk)(talk, AskTake(7, 1, word, first=True, fault="short"))
    assert sound.text.startswith("Ich möchte lernen")
    assert "Das war zu kurz. Sag: " in sound.text


@pytest.mark.parametrize("state", sorted(set(STATES) - {"idle", "muted", "failed"}))
def test_enrolment_is_refused_during_a_conversation(state: Any) -> None:
    talk = talk_in(state)
    mail = begun(talk)
    assert mail(talk, ASK) == ()
    assert mail.sent == [("page", TrialRefused(7, "busy"))]


def test_a_muted_box_refuses_enrolment() -> None:
    talk = Talk()
    mail = begun(talk)
    talk(Mute(on=True))
    mail(talk, ASK)
    assert mail.sent == [("page", TrialRefused(7, "muted"))]


def test_the_prompt_of_an_ended_enrolment_is_not_spoken() -> None:
    talk = Talk()
    mail = begun(talk)
    assert mail(talk, EndTrial(7)) == ()
    assert mail.sent == [("listener", EndTrial(7))]
    assert mail(talk, ASK) == ()
    assert mail.sent == [("page", TrialRefused(7, "no-microphone"))]


def test_ending_an_enrolment_stops_its_prompt() -> None:
    talk = Talk()
    mail = begun(talk)
    (sound,) = mail(talk, ASK)
    talk(sound)
    assert mail(talk, EndTrial(7)) == (StopSpeaking(),)


@pytest.mark.parametrize("outcome", ["kept", "no-better", "too-few", "contradict", "failed"])
def test_the_outcome_of_an_enrolment_is_announced_once(outcome: Any) -> None:
    talk = Talk()
    mail = begun(talk)
    mail(talk, LearnEnrolment(7))
    assert mail.sent == [("listener", LearnEnrolment(7))]
    learnt = EnrolmentLearnt(7, outcome)
    (sound,) = mail(talk, learnt, peer="listener")
    assert sound.text
    assert mail.sent == [("page", learnt)]
    assert mail(talk, learnt, peer="listener") == ()


def test_only_the_page_can_enrol_or_delete_a_recording() -> None:
    mail, talk = Mail(), Talk()
    for wanted in (BeginEnrolment(7), ASK, LearnEnrolment(7), OwnerVoiceChanged()):
        assert mail(talk, wanted, peer="link") == ()
        assert mail.sent == []
    assert mail(talk, TakeJudged(7, 1, None), peer="words") == ()
    assert mail.sent == []
    mail(talk, OwnerVoiceChanged())
    assert mail.sent == [("listener", OwnerVoiceChanged())]


def test_a_listener_crash_ends_the_enrolment_and_switches_the_light_off() -> None:
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


def test_a_page_crash_ends_the_enrolment() -> None:
    talk = Talk()
    mail = begun(talk)
    mail(talk, PartChanged("page", "down"), peer="supervisor")
    assert mail.sent == [("listener", EndTrial(7))]
