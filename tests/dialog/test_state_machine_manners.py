"""Speech in an answer's first moment continues the question, and no answer stammers."""

from __future__ import annotations

import pytest

from appliance.dialog.actions import AnnounceState, ReleaseHold
from appliance.dialog.state_machine import Tick
from appliance.messages.commands import Ask
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import Spoken
from appliance.messages.thinking import Abandon, AnswerHeard, Sentence, Think, ThoughtEnded
from appliance.pcm import RATE_HZ
from tests.dialog.talk import MOON, RULES, Talk

GRACE = round(RULES.grace_s * RATE_HZ)


# ── continuing the question ──────────────────────────────────────────────────────────────────
def answering() -> tuple[Talk, int]:
    """A talk whose answer has just started to play, and the card's index at its start."""
    talk = Talk()
    talk.speech(1)
    for number, text in enumerate(MOON):
        talk(Sentence(2, number, text), Spoken(2, number, 32_000 * number, 32_000, 5.0))
    talk(ThoughtEnded(2, 3, "complete"), PlaybackStarted(2, began := talk.index))
    return talk, began


@pytest.mark.parametrize(("after", "kept"), [(GRACE - 1, True), (GRACE, False)])
def test_speech_in_the_first_moment_of_an_answer_continues_the_question(
    after: int, kept: bool
) -> None:
    talk, began = answering()
    talk(Onset(2, began + after, speaking=True), PlaybackPaused(2, 2, 16_000, 0), after_s=1.0)
    talk(Verdict(2, "interruption", 300), SpeechStarted(2, 2, began + after))
    talk.wait(RULES.yield_s + 0.1)
    assert talk.sent(Abandon) == [Abandon(2)]
    talk(PlaybackStopped(2, 16_000, 0), SpeechEnded(2, 0, 32_000, last=True), after_s=1.0)
    assert talk.sent(Think) == [Think(4, (2,))]
    heard = [] if kept else [AnswerHeard(2, "The moon", complete=False)]
    assert (
        talk.sent(AnswerHeard, ever=True) == heard
    )  # not reported as heard: the thinker asks both pieces together
    assert talk.it.answer is not None
    assert talk.it.answer.question.seconds == (4.0 if kept else 2.0)
    assert talk.remembered() == ([] if kept else [("The moon", False)])


def test_a_discarded_answer_does_not_delay_the_next_question() -> None:
    talk, began = answering()
    talk(Onset(2, began + 100, speaking=True), Verdict(2, "interruption", 300))
    talk(SpeechEnded(2, 0, 32_000, last=True))
    assert talk.sent(Think) == [Think(4, (2,))]


@pytest.mark.parametrize(("after", "count"), [(GRACE - 1, 1), (GRACE, 0)])
def test_a_premature_answer_is_counted_and_an_interrupted_one_is_not(
    after: int, count: int
) -> None:
    talk, began = answering()
    talk(Onset(2, began + after, speaking=True), PlaybackPaused(2, 2, 16_000, 0), after_s=1.0)
    talk(Verdict(2, "interruption", 300), SpeechStarted(2, 2, began + after))
    talk(SpeechEnded(2, 0, 32_000, last=True), PlaybackStopped(2, 16_000, 0), after_s=1.0)
    assert talk.it.taken_back == count


def test_a_thought_that_the_owner_talks_over_is_counted_as_premature() -> None:
    talk = Talk()
    talk.speech(1)
    talk(Onset(2, talk.index, speaking=False), SpeechStarted(2, 2, talk.index), after_s=0.3)
    talk(SpeechEnded(2, 0, 16_000, last=False), SpeechEnded(2, 0, 32_000, last=True))
    assert talk.it.taken_back == 1


@pytest.mark.parametrize("kind", ["backchannel", "noise"])
def test_a_backchannel_in_the_first_moment_stops_no_answer(kind: str) -> None:
    talk, began = answering()
    talk(Onset(2, began + 100, speaking=True), Verdict(2, kind, 300))  # type: ignore[arg-type]  # a Literal
    assert talk.state == "speaking"


def test_speech_that_began_before_the_answer_continues_the_question_when_reported_late() -> None:
    talk = Talk()
    talk.speech(1)
    talk(Onset(2, talk.index, speaking=False))
    talk(Sentence(2, 0, MOON[0]), Spoken(2, 0, 0, 32_000, 5.0), PlaybackStarted(2, talk.index + 50))
    talk(SpeechStarted(2, 2, talk.index), after_s=0.3)
    talk(SpeechEnded(2, 0, 16_000, last=True), after_s=1.0)
    assert talk.sent(AnswerHeard, ever=True) == []
    assert talk.it.answer is not None
    assert talk.it.answer.question.seconds == 3.0


def test_speech_during_an_announcement_continues_no_question() -> None:
    talk = Talk(ready=False)
    talk(Ask("why?"), PlaybackStarted(talk.turn, talk.index))
    talk(Onset(2, talk.index + 100, speaking=True), Verdict(2, "interruption", 300))
    talk.wait(RULES.yield_s + 0.1)
    assert (talk.state, talk.sent(Abandon, ever=True)) == ("listening", [])


def test_a_question_that_was_broken_off_and_not_continued_is_dropped() -> None:
    talk, began = answering()
    talk(Onset(2, began + 100, speaking=True), Verdict(2, "interruption", 300))
    talk.wait(RULES.yield_s + RULES.speech_s + 0.5)
    assert talk.state == "idle"
    assert talk.sent(AnswerHeard, ever=True) == [AnswerHeard(2, "", complete=False)]


# ── a repeated word ──────────────────────────────────────────────────────────────────────────
def test_a_repeated_word_is_remembered_once() -> None:
    talk, _ = answering()
    talk(Onset(2, talk.index + 40_000, speaking=True), PlaybackPaused(2, 2, 40_000, 0), after_s=2.5)
    talk(Verdict(2, "noise", 700), PlaybackResumed(2, 2, 32_000, 0), after_s=0.7)
    talk(Onset(3, talk.index + 5000, speaking=True), PlaybackPaused(2, 3, 36_000, 0), after_s=0.25)
    talk(Verdict(3, "interruption", 300), PlaybackStopped(2, 36_000, 0))
    assert talk.remembered() == [("The moon is grey. It", False)]


# ── no stammer ───────────────────────────────────────────────────────────────────────────────
def disturb(talk: Talk, serial: int, after_s: float) -> None:
    """A backchannel during the answer, with its verdict 0.3 s after its onset."""
    talk(Onset(serial, talk.index, speaking=True), after_s=after_s)
    talk(Verdict(serial, "backchannel", 300), after_s=0.3)


def test_after_a_single_backchannel_the_answer_continues_at_once() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    assert talk.said == [ReleaseHold(2), AnnounceState("speaking", 2, "backchannel")]


def test_an_answer_disturbed_twice_within_a_second_waits_for_silence() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    disturb(talk, 3, after_s=0.5)
    assert (talk.state, talk.done(ReleaseHold)) == ("holding", [])
    talk(Tick(3), after_s=RULES.resume_debounce_s - 0.05)
    assert talk.state == "holding"
    talk(Tick(3), after_s=0.06)
    assert talk.said == [ReleaseHold(3), AnnounceState("speaking", 2, "backchannel")]


def test_a_late_second_disturbance_does_not_delay_the_answer() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    disturb(talk, 3, after_s=RULES.rapid_interrupt_s + 0.1)
    assert talk.state == "speaking"


def test_each_new_sound_restarts_the_debounce_of_a_waiting_answer() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    for serial in range(3, 6):
        disturb(talk, serial, after_s=0.3)
        assert (talk.state, talk.done(ReleaseHold)) == ("holding", [])
    talk(Tick(5), after_s=RULES.resume_debounce_s + 0.01)
    assert talk.state == "speaking"


def test_under_constant_noise_the_answer_continues_after_the_maximum_wait() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    began_s = talk.now_s
    serial = 3
    disturb(talk, serial, after_s=0.3)
    while talk.state == "holding":
        serial += 1
        disturb(talk, serial, after_s=0.3)
        assert talk.now_s - began_s < RULES.max_resume_wait_s + 1.0
    assert talk.state == "speaking"


def test_an_interruption_does_not_wait_for_silence() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    disturb(talk, 3, after_s=0.5)
    talk(Onset(4, talk.index, speaking=True), Verdict(4, "interruption", 300), after_s=0.1)
    talk(SpeechEnded(4, 0, 16_000, last=True), after_s=0.5)
    assert talk.state == "thinking"


def test_the_end_of_the_debounce_does_not_release_an_onset_whose_message_is_under_way() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    disturb(talk, 3, after_s=0.5)
    talk(Tick(4), after_s=RULES.resume_debounce_s + 0.01)
    assert talk.done(ReleaseHold) == [ReleaseHold(3)]
    talk(Onset(4, talk.index, speaking=True))
    assert talk.state == "holding"


def test_an_answer_that_ends_during_the_debounce_is_remembered_completely() -> None:
    talk, _ = answering()
    disturb(talk, 2, after_s=1.0)
    disturb(talk, 3, after_s=0.5)
    talk(PlaybackFinished(2, 96_000, 0), Tick(3), after_s=0.1)
    assert talk.remembered() == [(" ".join(MOON), True)]
    talk.wait(2.0, hold=3)
    assert (talk.state, talk.it.hold.open) == ("idle", False)
