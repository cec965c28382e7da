"""What is tried with sound: only while nobody talks and nothing sounds, and said why not."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.dialog.on_trial import PlaySound
from appliance.dialog.table import STATES
from appliance.dialog.trial_relay import TrialRelay
from appliance.messages.commands import Mute, StopSpeaking
from appliance.messages.hearing import Onset, Verdict
from appliance.messages.playback import CardLost, PlaybackFinished, PlaybackStarted
from appliance.messages.registry import Message
from appliance.messages.speech import EndAnswer, Speak
from appliance.messages.supervision import PartChanged
from appliance.messages.trying import StartTrial, TrialRefused
from tests.dialog.talk import Talk, talk_in

TONE = StartTrial(7, "tone")


class Mail:
    def __init__(self) -> None:
        self.sent: list[tuple[str, Message]] = []
        self.relay = TrialRelay(lambda part, message: self.sent.append((part, message)))

    def __call__(self, talk: Talk, message: Any, peer: str = "page") -> Any:
        self.sent.clear()
        return self.relay.handle(peer, message, talk.it)


def test_at_rest_the_tone_sounds_and_the_page_is_told_nothing_more() -> None:
    mail, talk = Mail(), Talk()
    assert mail(talk, TONE) == (PlaySound("sweep"),)
    assert mail.sent == []


@pytest.mark.parametrize("state", sorted(set(STATES) - {"idle", "muted", "failed"}))
def test_while_somebody_talks_or_the_box_does_it_is_refused(state: Any) -> None:
    mail = Mail()
    assert mail(talk_in(state), TONE) == ()
    assert mail.sent == [("page", TrialRefused(7, "busy"))]


def test_a_box_without_a_loudspeaker_refuses_it() -> None:
    mail, talk = Mail(), Talk()
    talk(CardLost("playback", "gone"))
    assert mail(talk, TONE) == ()
    assert mail.sent == [("page", TrialRefused(7, "no-voice"))]


def test_nobody_but_the_page_has_anything_tried() -> None:
    mail = Mail()
    assert mail(Talk(), TONE, peer="link") == ()
    assert mail(Talk(), PartChanged("words", "up"), peer="supervisor") is None
    assert mail.sent == []


def played(talk: Talk) -> None:
    talk(PlaySound("sweep"))
    assert talk.sent(Speak) == [Speak(talk.turn, 0, "", sound="sweep")]
    assert talk.sent(EndAnswer) == [EndAnswer(talk.turn)]


def test_the_tone_is_an_announcement_without_words_that_no_memory_keeps() -> None:
    talk = Talk()
    played(talk)
    assert talk.state == "speaking"
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 96_000, 0))
    assert (talk.state, talk.remembered()) == ("idle", [])


def test_a_muted_box_plays_it_too_and_is_muted_after_it() -> None:
    talk = Talk()
    talk(Mute(on=True))
    played(talk)
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 96_000, 0))
    assert talk.state == "muted"


@pytest.mark.parametrize(
    "ends", [(StopSpeaking(),), (Onset(1, 0, speaking=True), Verdict(1, "interruption", 300))]
)
def test_a_word_over_it_or_the_button_ends_it(ends: tuple[Any, ...]) -> None:
    talk = Talk()
    played(talk)
    turn = talk.turn
    talk(PlaybackStarted(turn, 0), *ends)
    assert talk.turn > turn, "what sounds belongs to an older turn, and is dropped"


def test_what_was_let_through_a_moment_too_early_does_not_sound_over_somebody() -> None:
    talk = talk_in("listening")
    assert talk(PlaySound("sweep")) == []
