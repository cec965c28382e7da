"""The outcome of each utterance, read from synthetic tracks and messages."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import (
    Dropouts,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.registry import Message, ObservedMessage
from appliance.messages.thinking import Sentence, Think
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.sim.rehearsal_recording import PlayedUtterance, RehearsalRecording
from lab.sim.rehearsal_report import MS, RecordingReader, judged, report, versions
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.speech_source import OwnerSound

FIRST = 5000  # card index at which the recording begins
UTTERANCE = ScriptedUtterance(say="what about the sea", kind="interruption")


def recording(seconds: float = 6.0) -> RehearsalRecording:
    recorded = RehearsalRecording(Scene(name="made"), load_defaults(), first=FIRST)
    recorded.loudspeaker = np.zeros(round(seconds * RATE_HZ), np.int16)
    return recorded


def at(ms: float) -> int:
    """The card index so many milliseconds after the recording began."""
    return FIRST + round(ms * MS)


def add_sound(recorded: RehearsalRecording, begin_ms: int, end_ms: int) -> None:
    recorded.loudspeaker[begin_ms * MS : end_ms * MS] = 3000


def add_utterance(recorded: RehearsalRecording, onset_ms: int, end_ms: int) -> None:
    recorded.said.append(PlayedUtterance(UTTERANCE, at(onset_ms), at(end_ms)))


def add_message(recorded: RehearsalRecording, when_ms: float, message: Message) -> None:
    recorded.mail.append((at(when_ms), ObservedMessage(0, "a", "b", message)))


def read(recorded: RehearsalRecording) -> RecordingReader:
    return RecordingReader(recorded, 0)


def test_speech_without_a_reaction_is_ignored() -> None:
    recorded = recording()
    add_utterance(recorded, 1000, 1500)
    (out,) = read(recorded).outcomes()
    assert (out.outcome, out.over_the_box, out.stop_ms, out.answer_ms) == (
        "ignored", False, None, None,
    )  # fmt: skip
    assert (out.onset_s, out.end_s, out.said) == (1.0, 1.5, "what about the sea")


def add_answer(recorded: RehearsalRecording) -> None:
    """Speech from 1000 to 1500 ms; its answer is audible from 2300 ms, 100 ms into its stream."""
    add_utterance(recorded, 1000, 1500)
    add_message(recorded, 1020, Onset(4, at(1010), speaking=False))
    add_message(recorded, 1600, SpeechStarted(4, 4, at(1000)))
    add_message(recorded, 1900, SpeechEnded(4, at(1500), 500 * MS, last=True))
    add_message(recorded, 1950, Think(1, (4,)))
    add_message(recorded, 2100, Sentence(1, 1, "It is deep."))
    add_message(recorded, 2050, Sentence(1, 0, "The sea."))
    add_message(recorded, 2200, PlaybackStarted(1, at(2200)))
    add_sound(recorded, 2300, 3000)


def test_the_answer_time_is_from_the_end_of_speech_to_the_first_audible_sample() -> None:
    recorded = recording()
    add_answer(recorded)
    (out,) = read(recorded).outcomes()
    assert out.outcome == "answered"
    assert out.answer_ms == pytest.approx(800)
    assert out.answer_text == "The sea. It is deep."
    assert out.answer_parts_ms == {"turn_end": 400.0}


def test_the_stop_time_of_an_interruption_ends_at_the_last_audible_sample() -> None:
    recorded = recording()
    add_sound(recorded, 0, 1080)
    add_utterance(recorded, 1000, 1400)
    onset = Onset(7, at(1010), speaking=True)
    add_message(recorded, 1050, onset)
    add_message(recorded, 1100, PlaybackPaused(1, 7, 17_600, at(1100)))
    add_message(recorded, 1300, Verdict(7, "interruption", 300))
    add_message(recorded, 1310, SpeechStarted(7, 7, at(1000)))
    (out,) = read(recorded).outcomes()
    assert (out.over_the_box, out.outcome) == (True, "yielded")
    assert out.stop_ms == pytest.approx(80)
    assert out.verdict == "interruption"
    assert out.verdict_ms == pytest.approx(300)


def test_only_pauses_without_speech_count_as_false_pauses() -> None:
    recorded = recording()
    add_utterance(recorded, 1000, 1400)
    for when_ms in (500, 1200, 1700, 3000):
        add_message(recorded, when_ms, PlaybackPaused(1, 0, 0, at(when_ms)))
    assert read(recorded).false_pauses() == 2


def test_a_pause_with_a_resume_has_the_outcome_resumed() -> None:
    recorded = recording()
    add_sound(recorded, 0, 1050)
    add_sound(recorded, 1500, 4000)
    add_utterance(recorded, 1000, 1300)
    add_message(recorded, 1050, PlaybackPaused(1, 7, 16_800, at(1050)))
    add_message(recorded, 1500, PlaybackResumed(1, 7, 16_800, at(1500)))
    (out,) = read(recorded).outcomes()
    assert out.outcome == "resumed"
    stopped = recording()
    add_sound(stopped, 0, 1050)
    add_utterance(stopped, 1000, 1300)
    add_message(stopped, 1050, PlaybackStopped(1, 16_800, at(1050)))
    (out,) = read(stopped).outcomes()
    assert out.outcome == "ignored"


def test_an_answer_that_is_dropped_after_a_resume_is_lost_and_not_resumed() -> None:
    recorded = recording()
    add_sound(recorded, 0, 1050)
    add_utterance(recorded, 1000, 1300)
    add_message(recorded, 1050, PlaybackPaused(1, 7, 16_800, at(1050)))
    add_message(recorded, 1500, PlaybackResumed(1, 7, 16_800, at(1500)))
    add_message(recorded, 2850, PlaybackStopped(1, 20_000, at(2850)))
    (out,) = read(recorded).outcomes()
    assert (out.outcome, out.answer_lost) == ("lost", True)
    assert report(read(recorded))["answers_lost"] == {"interruption": (1, 1)}
    later = recording()
    add_sound(later, 0, 4000)
    add_utterance(later, 1000, 1300)
    add_message(later, 2950, PlaybackStopped(1, 20_000, at(2950)))
    (out,) = read(later).outcomes()
    assert not out.answer_lost


def test_the_report_of_an_empty_recording_has_every_section() -> None:
    recorded = recording()
    add_message(recorded, 100, Dropouts("capture", 3))
    found = report(read(recorded))
    assert found["dropouts"] == {"capture": 3, "playback": 0}
    assert (found["scene"], found["utterances"], found["false_pauses"]) == ("made", [], 0)
    assert found["versions"] == versions()
    assert all(versions().values())


def test_hotato_judges_what_was_said_over_the_box() -> None:
    recorded = recording(8.0)
    add_sound(recorded, 0, 2300)  # the box stops 0.3 s after the owner's onset
    tone = (8000 * np.sin(np.arange(RATE_HZ) / 10)).astype(np.int16)
    for kind in ("interruption", "backchannel"):
        entry = ScriptedUtterance(say="wait", kind=kind)
        sound = OwnerSound(np.pad(tone, 100), 100, 100 + len(tone))
        recorded.said.append(PlayedUtterance(entry, at(2000), at(3000), sound))
    call, murmur = judged(read(recorded))
    assert (call.yielded, call.right) == (True, True)
    assert call.after_s == pytest.approx(0.3, abs=0.03)
    assert (murmur.yielded, murmur.right) == (True, False)
    assert len(report(read(recorded))["hotato"]) == 2


def test_the_track_of_the_owner_is_without_echo_and_noise() -> None:
    recorded = recording(3.0)
    add_sound(recorded, 0, 3000)
    tone = np.full(160, 700, np.int16)
    sound = OwnerSound(np.pad(tone, 40), 40, 200)
    recorded.said.append(PlayedUtterance(UTTERANCE, at(1000), at(1010), sound))
    owner, box = recorded.tracks(900 * MS, 1100 * MS).T
    assert np.flatnonzero(owner).tolist() == list(range(100 * MS, 110 * MS))
    assert set(box) == {3000}
