"""Sound trials: only while idle, and refused with a reason."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from appliance.dialog.on_trial import PlaySound
from appliance.dialog.state_machine import Tick
from appliance.dialog.table import STATES
from appliance.dialog.trial_relay import TrialRelay
from appliance.messages.commands import Mute, MuteSwitched, StopSpeaking
from appliance.messages.hearing import Onset, Verdict
from appliance.messages.playback import CardLost, PlaybackFinished, PlaybackStarted
from appliance.messages.registry import Message
from appliance.messages.speech import EndAnswer, Speak
from appliance.messages.supervision import PartChanged
from appliance.messages.trying import (
    EchoMeasured,
    EndTrial,
    SoundRecorded,
    SoundRecording,
    StartTrial,
    TrialRefused,
)
from tests.dialog.talk import RULES, Talk, talk_in

TONE, MICROPHONE = StartTrial(7, "tone"), StartTrial(8, "microphone")
RECORDED = SoundRecorded(8, -12.0, -20.0, -60.0, -70.0, 0, 0.0, played=True)


class Mail:
    def __init__(self) -> None:
        self.sent: list[tuple[str, Message]] = []
        self.relay = TrialRelay(lambda part, message: self.sent.append((part, message)))

    def __call__(self, talk: Talk, message: Any, peer: str = "page") -> Any:
        self.sent.clear()
        return self.relay.handle(peer, message, talk.it)


def test_an_idle_box_plays_the_tone_and_the_listener_measures_its_echo() -> None:
    mail, talk = Mail(), Talk()
    assert mail(talk, TONE) == (PlaySound("sweep"),)
    assert mail.sent == [("listener", TONE)], "the listener measures its echo"
    talk(Mute(on=True))
    assert mail(talk, TONE) == (PlaySound("sweep"),)
    assert mail.sent == [], "a muted box measures no echo"


def test_the_echo_trial_plays_a_sentence_in_the_boxs_voice_and_language() -> None:
    mail, talk = Mail(), Talk(language="de")
    wanted = StartTrial(9, "echo")
    (sound,) = mail(talk, wanted)
    assert mail.sent == [("listener", wanted)]
    assert (sound.sound, sound.text[:11]) == ("opening", "Ich spreche")
    measured = EchoMeasured(9, (), 6.0, 0, 0, "works")
    assert mail(talk, measured, peer="listener") == ()
    assert mail.sent == [("page", measured)]
    talk(sound)
    (said,) = talk.sent(Speak)
    assert (said.sound, said.text) == ("opening", sound.text)


@pytest.mark.parametrize("state", sorted(set(STATES) - {"idle", "muted", "failed"}))
def test_a_trial_is_refused_while_the_owner_or_the_box_speaks(state: Any) -> None:
    mail = Mail()
    assert mail(talk_in(state), TONE) == ()
    assert mail.sent == [("page", TrialRefused(7, "busy"))]


def test_a_box_without_a_loudspeaker_refuses_the_trial() -> None:
    mail, talk = Mail(), Talk()
    talk(CardLost("playback", "gone"))
    assert mail(talk, TONE) == ()
    assert mail.sent == [("page", TrialRefused(7, "no-voice"))]


def test_only_the_page_can_start_a_trial() -> None:
    mail = Mail()
    assert mail(Talk(), TONE, peer="link") == ()
    assert mail(Talk(), PartChanged("words", "up"), peer="supervisor") is None
    assert mail.sent == []


def test_the_listener_records_the_microphone_trial_and_the_loudspeaker_plays_it() -> None:
    mail, talk = Mail(), Talk()
    assert mail(talk, MICROPHONE) == ()
    assert mail.sent == [("listener", MICROPHONE)]
    on = SoundRecording(8, on=True)
    assert mail(talk, on, peer="listener") == ()
    assert mail.sent == [("panel", on), ("page", on)], "the light shows the recording"
    assert mail(talk, RECORDED, peer="listener") == (PlaySound("recording"),)
    assert mail.sent == [("page", RECORDED)]


def test_a_recording_without_sound_or_of_an_older_trial_is_not_played() -> None:
    mail, talk = Mail(), Talk()
    mail(talk, MICROPHONE)
    assert mail(talk, msgspec.structs.replace(RECORDED, played=False), peer="listener") == ()
    assert mail(talk, msgspec.structs.replace(RECORDED, number=6), peer="listener") == ()
    assert mail(talk, RECORDED, peer="words") == ()
    assert mail.sent == []


@pytest.mark.parametrize(
    ("news", "why"),
    [
        (Mute(on=True), "muted"),
        (MuteSwitched(off=True), "muted"),
        (CardLost("capture", "gone"), "no-microphone"),
    ],
)
def test_without_a_microphone_only_the_microphone_trial_is_refused(news: Any, why: Any) -> None:
    mail, talk = Mail(), Talk()
    talk(news)
    assert mail(talk, MICROPHONE) == ()
    assert mail.sent == [("page", TrialRefused(8, why))]
    if why == "muted":
        assert mail(talk, TONE) == (PlaySound("sweep"),)


def test_ending_a_trial_also_stops_its_sound() -> None:
    mail, talk = Mail(), Talk()
    mail(talk, MICROPHONE)
    mail.sent.clear()
    assert mail(talk, EndTrial(7)) == (), "an older trial"
    assert mail.sent == []
    assert mail(talk, EndTrial(8)) == ()
    assert mail.sent == [("listener", EndTrial(8))]
    talk(PlaySound("recording"))
    assert mail(talk, EndTrial(8)) == (StopSpeaking(),)


def test_a_listener_crash_during_a_recording_ends_light_and_trial() -> None:
    mail, talk = Mail(), Talk()
    mail(talk, MICROPHONE)
    mail(talk, SoundRecording(8, on=True), peer="listener")
    assert mail(talk, PartChanged("listener", "down"), peer="supervisor") is None
    off = SoundRecording(8, on=False)
    refused = TrialRefused(8, "no-microphone")
    assert mail.sent == [("panel", off), ("page", off), ("page", refused)]
    mail(talk, PartChanged("listener", "down"), peer="supervisor")
    assert mail.sent == []


def test_a_page_crash_ends_its_recording() -> None:
    mail, talk = Mail(), Talk()
    mail(talk, MICROPHONE)
    mail(talk, SoundRecording(8, on=True), peer="listener")
    assert mail(talk, PartChanged("page", "down"), peer="supervisor") is None
    assert mail.sent == [("listener", EndTrial(8))]


def played(talk: Talk) -> None:
    talk(PlaySound("sweep"))
    assert talk.sent(Speak) == [Speak(talk.turn, 0, "", sound="sweep")]
    assert talk.sent(EndAnswer) == [EndAnswer(talk.turn)]


def test_the_tone_is_an_announcement_without_words_and_is_not_remembered() -> None:
    talk = Talk()
    played(talk)
    assert talk.state == "speaking"
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 96_000, 0))
    assert (talk.state, talk.remembered()) == ("idle", [])


def test_a_muted_box_plays_the_tone_and_stays_muted() -> None:
    talk = Talk()
    talk(Mute(on=True))
    played(talk)
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 96_000, 0))
    assert talk.state == "muted"


@pytest.mark.parametrize(
    "ends",
    [(StopSpeaking(),), (Onset(1, 0, speaking=True), Verdict(1, "interruption", 300), Tick(None))],
)
def test_speech_or_the_stop_command_ends_the_tone(ends: tuple[Any, ...]) -> None:
    talk = Talk()
    played(talk)
    turn = talk.turn
    talk(PlaybackStarted(turn, 0), *ends[:-1])
    talk(ends[-1], after_s=RULES.yield_s)
    assert talk.turn > turn, "the sound that plays belongs to an older turn and is dropped"


def test_a_trial_sound_does_not_play_while_the_owner_speaks() -> None:
    talk = talk_in("listening")
    assert talk(PlaySound("sweep")) == []
