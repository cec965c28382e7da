"""What each utterance met with, read off tracks and messages that are made by hand."""

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
from lab.sim.rehearsal_report import MS, RecordingReader, report, versions
from lab.sim.scene import Scene, ScriptedUtterance

FIRST = 5000  # the card's index at which the recording begins
SAID = ScriptedUtterance(say="what about the sea", kind="interruption")


def recording(seconds: float = 6.0) -> RehearsalRecording:
    made = RehearsalRecording(Scene(name="made"), load_defaults(), first=FIRST)
    made.loudspeaker = np.zeros(round(seconds * RATE_HZ), np.int16)
    return made


def at(ms: float) -> int:
    """The card's index so long after the recording began."""
    return FIRST + round(ms * MS)


def sounds(made: RehearsalRecording, begin_ms: int, end_ms: int) -> None:
    made.loudspeaker[begin_ms * MS : end_ms * MS] = 3000


def says(made: RehearsalRecording, onset_ms: int, end_ms: int) -> None:
    made.said.append(PlayedUtterance(SAID, at(onset_ms), at(end_ms)))


def mail(made: RehearsalRecording, when_ms: float, message: Message) -> None:
    made.mail.append((at(when_ms), ObservedMessage(0, "a", "b", message)))


def read(made: RehearsalRecording) -> RecordingReader:
    return RecordingReader(made, 0)


def test_speech_that_nothing_follows_is_ignored() -> None:
    made = recording()
    says(made, 1000, 1500)
    (out,) = read(made).outcomes()
    assert (out.outcome, out.over_the_box, out.stop_ms, out.answer_ms) == (
        "ignored", False, None, None,
    )  # fmt: skip
    assert (out.onset_s, out.end_s, out.said) == (1.0, 1.5, "what about the sea")


def answered(made: RehearsalRecording) -> None:
    """Said from 1000 to 1500 ms; its answer sounds from 2300 on, 100 ms into its stream."""
    says(made, 1000, 1500)
    mail(made, 1020, Onset(4, at(1010), speaking=False))
    mail(made, 1600, SpeechStarted(4, 4, at(1000)))
    mail(made, 1900, SpeechEnded(4, at(1500), 500 * MS, last=True))
    mail(made, 1950, Think(1, (4,)))
    mail(made, 2100, Sentence(1, 1, "It is deep."))
    mail(made, 2050, Sentence(1, 0, "The sea."))
    mail(made, 2200, PlaybackStarted(1, at(2200)))
    sounds(made, 2300, 3000)


def test_an_answer_is_timed_from_the_words_end_to_its_first_audible_sample() -> None:
    made = recording()
    answered(made)
    (out,) = read(made).outcomes()
    assert out.outcome == "answered"
    assert out.answer_ms == pytest.approx(800)
    assert out.answer_text == "The sea. It is deep."
    assert out.answer_parts_ms == {"turn_end": 400.0}


def test_over_the_box_the_last_audible_sample_counts_and_the_verdict_is_timed() -> None:
    made = recording()
    sounds(made, 0, 1080)
    says(made, 1000, 1400)
    onset = Onset(7, at(1010), speaking=True)
    mail(made, 1050, onset)
    mail(made, 1100, PlaybackPaused(1, 7, 17_600, at(1100)))
    mail(made, 1300, Verdict(7, "interruption", 300))
    mail(made, 1310, SpeechStarted(7, 7, at(1000)))
    (out,) = read(made).outcomes()
    assert (out.over_the_box, out.outcome) == (True, "yielded")
    assert out.stop_ms == pytest.approx(80)
    assert out.verdict == "interruption"
    assert out.verdict_ms == pytest.approx(300)


def test_a_pause_of_which_nothing_came_is_false_only_where_nobody_spoke() -> None:
    made = recording()
    says(made, 1000, 1400)
    for when_ms in (500, 1200, 1700, 3000):
        mail(made, when_ms, PlaybackPaused(1, 0, 0, at(when_ms)))
    assert read(made).false_pauses() == 2


def test_a_pause_that_was_taken_back_is_resumed() -> None:
    made = recording()
    sounds(made, 0, 1050)
    sounds(made, 1500, 4000)
    says(made, 1000, 1300)
    mail(made, 1050, PlaybackPaused(1, 7, 16_800, at(1050)))
    mail(made, 1500, PlaybackResumed(1, 7, 16_800, at(1500)))
    (out,) = read(made).outcomes()
    assert out.outcome == "resumed"
    stopped = recording()
    sounds(stopped, 0, 1050)
    says(stopped, 1000, 1300)
    mail(stopped, 1050, PlaybackStopped(1, 16_800, at(1050)))
    (out,) = read(stopped).outcomes()
    assert out.outcome == "ignored"


def test_the_whole_report_has_every_part_also_of_nothing() -> None:
    made = recording()
    mail(made, 100, Dropouts("capture", 3))
    found = report(read(made))
    assert found["dropouts"] == {"capture": 3, "playback": 0}
    assert (found["scene"], found["utterances"], found["false_pauses"]) == ("made", [], 0)
    assert found["versions"] == versions()
    assert all(versions().values())
