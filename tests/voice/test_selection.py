"""The requested voice is sent again to a restarted speaker, and dropped if it is unknown."""

from __future__ import annotations

from appliance.messages.commands import SetVoice
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.voice.selection import VoiceSelection


def test_without_a_request_the_voice_of_the_settings_stays() -> None:
    selection = VoiceSelection()
    assert selection.handle(SpeakerReady("espeak")) is None
    assert selection.name is None


def test_a_requested_voice_is_forwarded_and_remembered() -> None:
    selection = VoiceSelection()
    assert selection.handle(SetVoice("amy")) == SetVoice("amy")
    assert selection.handle(SpeakerReady("amy")) is None
    assert selection.name == "amy"


def test_a_restarted_speaker_with_another_voice_gets_the_request_again() -> None:
    selection = VoiceSelection()
    selection.handle(SetVoice("amy"))
    selection.handle(PartChanged("speaker", "down"))
    assert selection.handle(SpeakerReady("espeak")) == SetVoice("amy")
    assert selection.handle(SpeakerReady("amy")) is None
    assert selection.name == "amy"


def test_an_unknown_voice_is_forgotten_and_not_requested_again() -> None:
    selection = VoiceSelection()
    selection.handle(SetVoice("nobody"))
    assert selection.handle(SpeakerReady("espeak")) is None
    assert selection.name == ""
    selection.handle(PartChanged("speaker", "down"))
    assert selection.handle(SpeakerReady("espeak")) is None
