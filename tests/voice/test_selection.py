"""The voice that was asked for: told again to a speaker that died, and not kept if none has it."""

from __future__ import annotations

from appliance.messages.commands import SetVoice
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.voice.selection import VoiceSelection


def test_nobody_asked_and_so_the_files_voice_stays() -> None:
    wanted = VoiceSelection()
    assert wanted.handle(SpeakerReady("espeak")) is None
    assert wanted.name is None


def test_a_voice_that_is_asked_for_is_sent_on_and_kept() -> None:
    wanted = VoiceSelection()
    assert wanted.handle(SetVoice("amy")) == SetVoice("amy")
    assert wanted.handle(SpeakerReady("amy")) is None
    assert wanted.name == "amy"


def test_a_speaker_that_comes_up_anew_with_another_voice_is_told_again() -> None:
    wanted = VoiceSelection()
    wanted.handle(SetVoice("amy"))
    wanted.handle(PartChanged("speaker", "down"))
    assert wanted.handle(SpeakerReady("espeak")) == SetVoice("amy")
    assert wanted.handle(SpeakerReady("amy")) is None
    assert wanted.name == "amy"


def test_a_voice_that_no_speaker_has_is_not_kept_and_not_asked_for_without_end() -> None:
    wanted = VoiceSelection()
    wanted.handle(SetVoice("nobody"))
    assert wanted.handle(SpeakerReady("espeak")) is None
    assert wanted.name == ""
    wanted.handle(PartChanged("speaker", "down"))
    assert wanted.handle(SpeakerReady("espeak")) is None
