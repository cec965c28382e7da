"""Speech and sounds of the owner: a question, an interruption, or neither."""

from __future__ import annotations

import pytest

from appliance.dialog.actions import AnnounceState, RaiseTurn, ReleaseHold, SendMessage
from appliance.dialog.state_machine import Tick
from appliance.messages.hearing import (
    Onset,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WordsHeard,
)
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
    RewindAnswer,
)
from appliance.messages.registry import Message
from appliance.messages.speech import Spoken
from appliance.messages.thinking import Abandon, AnswerHeard, Sentence, Think, ThoughtEnded
from tests.dialog.talk import BEGUN, ENDED, MOON, ONSET, RULES, YIELD, Talk, talk_in


# ── question and answer ──────────────────────────────────────────────────────────────────────
def test_an_onset_in_silence_changes_nothing_until_its_verdict() -> None:
    talk = Talk()
    assert talk(Onset(1, 0, speaking=False)) == []
    assert talk(Verdict(1, "noise", 150)) == [ReleaseHold(1)]


def test_pieces_of_one_utterance_are_one_question() -> None:
    talk = Talk()
    talk(Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    talk(SpeechEnded(1, 0, 28 * 16_000, last=False), after_s=28.0)
    talk.wait(20.0)
    assert talk.state == "listening"
    talk(SpeechEnded(1, 0, 50 * 16_000, last=True))
    assert talk.sent(Think) == [Think(2, (1,))]


def test_an_utterance_whose_start_message_was_lost_is_still_a_question() -> None:
    talk = Talk()
    talk(SpeechEnded(4, 0, 16_000, last=True))
    assert talk.sent(Think) == [Think(2, (4,))]


def test_an_utterance_without_samples_is_not_a_question() -> None:
    talk = talk_in("listening")
    talk(SpeechEnded(1, 0, 0, last=True))
    assert (talk.state, talk.sent(Think)) == ("idle", [])


def test_speech_that_continues_while_the_box_thinks_extends_the_question() -> None:
    talk = Talk()
    talk.speech(1)
    talk(Sentence(2, 0, "Well."), Onset(2, 0, speaking=False), SpeechStarted(2, 2, 0))
    assert talk.said[-3:] == [
        SendMessage("thinker", Abandon(2)),
        RaiseTurn(3),
        AnnounceState("listening", 3, "the owner speaks"),
    ]
    talk(SpeechEnded(2, 0, 16_000, last=True), after_s=1.0)
    assert talk.sent(Think) == [Think(4, (2,))]  # the thinker still has the first piece
    assert talk.sent(AnswerHeard, ever=True) == []


# ── holding and resuming ─────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ["backchannel", "noise"])
def test_after_a_backchannel_or_noise_the_answer_continues(kind: str) -> None:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 16_000, 0), Verdict(2, kind, 300))  # type: ignore[arg-type]  # a Literal
    assert talk.said == [ReleaseHold(2), AnnounceState("speaking", 2, kind)]
    talk(PlaybackResumed(2, 2, 16_000, 0))
    talk.finish()
    assert talk.remembered() == [(" ".join(MOON), True)]


def test_an_interruption_drops_the_rest_of_the_answer_and_only_the_heard_part_is_remembered() -> (
    None
):
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 16_000, 0), Verdict(2, "interruption", 300), SpeechStarted(2, 2, 0))
    assert (talk.said, talk.state) == ([], "holding")  # it may still be a murmur
    talk(Tick(None), after_s=RULES.yield_s)
    assert talk.said == [
        SendMessage("thinker", Abandon(2)),
        RaiseTurn(3),
        ReleaseHold(2),
        AnnounceState("listening", 3, "interrupted"),
    ]
    talk(PlaybackStopped(2, 3 * 16_000, 0))
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, "The moon is grey. It has", complete=False)]
    talk(SpeechEnded(2, 0, 16_000, last=True))
    assert talk.sent(Think) == [Think(4, (2,))]
    assert talk.remembered() == [("The moon is grey. It has", False)]


def test_an_interruption_without_speech_leaves_the_box_idle() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300))
    talk.wait(RULES.yield_s + RULES.speech_s + 0.5)
    assert talk.state == "idle"


def test_an_answer_goes_on_if_what_was_said_over_it_was_no_turn() -> None:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 16_000, 0), Verdict(2, "interruption", 600), SpeechStarted(2, 2, 0))
    talk(Verdict(2, "backchannel", 900), SpeechEnded(2, 0, 0, last=True), after_s=0.3)
    assert talk.said == [ReleaseHold(2), AnnounceState("speaking", 2, "backchannel")]
    assert talk.sent(Abandon, ever=True) == []
    talk.answer_goes_on()
    talk.finish()
    assert talk.remembered() == [(" ".join(MOON), True)]
    assert talk.sent(Think, ever=True) == [Think(2, (1,))]


def test_sentences_that_come_while_an_answer_is_kept_belong_to_it() -> None:
    talk = Talk()
    talk.speech()
    talk(Sentence(2, 0, MOON[0]), Spoken(2, 0, 0, 32_000, 5.0), PlaybackStarted(2, 0))
    talk(Onset(2, 0, speaking=True), Verdict(2, "interruption", 600), after_s=1.0)
    talk(Sentence(2, 1, MOON[1]), Spoken(2, 1, 32_000, 32_000, 5.0), ThoughtEnded(2, 2, "complete"))
    talk(SpeechStarted(2, 2, 0), Verdict(2, "backchannel", 900), SpeechEnded(2, 0, 0, last=True))
    talk.finish()
    assert talk.remembered() == [(" ".join(MOON[:2]), True)]


def test_an_answer_is_dropped_for_a_call_in_which_no_words_were_heard() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300), SpeechStarted(2, 2, 0))
    talk(SpeechEnded(2, 0, 0, last=True), after_s=0.6)
    assert (talk.state, talk.sent(Abandon)) == ("idle", [Abandon(2)])


def test_a_verdict_that_is_taken_back_too_late_changes_nothing() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300), SpeechStarted(2, 2, 0))
    talk.wait(RULES.yield_s + 0.1)
    talk(Verdict(2, "backchannel", 1600))
    assert talk.state == "listening"


def test_a_short_turn_over_an_answer_is_answered_at_its_end() -> None:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 16_000, 0), Verdict(2, "interruption", 300), SpeechStarted(2, 2, 0))
    talk(SpeechEnded(2, 0, 8000, last=True), after_s=0.6)
    assert talk.sent(Abandon) == [Abandon(2)]
    talk(PlaybackStopped(2, 16_000, 0))
    assert talk.sent(Think) == [Think(4, (2,))]


def test_a_new_sound_while_an_answer_is_kept_is_judged_anew() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300), Onset(3, 0, speaking=True))
    talk.wait(0.5)
    talk(Verdict(3, "backchannel", 400))
    assert talk.state == "speaking"


def test_an_interruption_reported_after_the_answer_resumed_still_ends_it() -> None:
    talk = talk_in("holding")
    talk.wait(RULES.verdict_s + 0.1)
    assert talk.state == "speaking"
    talk(Verdict(2, "interruption", 1400))
    assert talk.state == "listening"


def test_without_a_verdict_the_answer_continues() -> None:
    talk = talk_in("holding")
    assert ReleaseHold(2) in talk.wait(RULES.verdict_s + 0.1)
    assert talk.state == "speaking"


def test_a_new_onset_while_holding_replaces_the_earlier_one() -> None:
    talk = talk_in("holding")
    talk(Onset(3, 0, speaking=True))
    assert talk(Verdict(2, "backchannel", 300)) == []
    assert ReleaseHold(3) in talk(Verdict(3, "backchannel", 300))


def test_an_onset_just_after_the_end_may_become_the_next_question() -> None:
    talk = talk_in("speaking")
    talk(PlaybackFinished(2, 96_000, 0), ONSET, YIELD, BEGUN, ENDED)
    assert talk.sent(Think) == [Think(3, (9,))]


# ── "pardon?" ────────────────────────────────────────────────────────────────────────────────
PARDON = WordsHeard(2, 500, "pardon", "repeat", 0.9)
SECOND = 16_000
PAUSED = PlaybackPaused(2, 2, 3 * SECOND, 0)  # a second of the second sentence was heard
AGAIN = RewindAnswer(2, 2 * SECOND)
UNHEARD = Verdict(2, "interruption", 400)


def asked_again(*messages: Message, seconds: float = 0.8) -> Talk:
    """Something of `seconds` was said over the answer, with these words; it has just ended."""
    talk = talk_in("holding")
    talk(PAUSED, UNHEARD, SpeechStarted(2, 2, 0), *messages)
    talk(SpeechEnded(2, 0, round(seconds * SECOND), last=True), after_s=seconds)
    return talk


def test_the_last_sentence_is_repeated_if_that_is_what_was_asked_for() -> None:
    talk = asked_again(PARDON)
    assert (talk.sent(RewindAnswer), talk.state) == ([AGAIN], "holding")
    talk.wait(RULES.rewind_s + 0.1)
    assert talk.state == "speaking"
    assert [a for a in talk.all if isinstance(a, ReleaseHold)][-1] == ReleaseHold(2)
    talk(PlaybackResumed(2, 2, 2 * SECOND, 0))
    assert talk.it.answer is not None
    assert talk.it.answer.position_at(talk.now_s) == 2 * SECOND
    talk.finish()
    assert talk.remembered() == [(" ".join(MOON), True)]
    assert talk.sent(Think, ever=True) == [Think(2, (1,))]


def test_playback_has_time_for_the_message_before_the_answer_goes_on() -> None:
    talk = asked_again(PARDON)
    assert talk.done(ReleaseHold) == []
    talk(Tick(2), after_s=RULES.rewind_s - 0.01)
    assert talk.state == "holding"


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ((), 0.8),
        ((PARDON, WordsHeard(2, 700, "pardon the noise", "yield", 0.9)), 0.8),
        ((WordsHeard(3, 500, "pardon", "repeat", 0.9),), 0.8),  # of another sound
        ((PARDON,), 1.2),  # longer than the words that were recognised
    ],
)
def test_anything_else_that_is_said_is_a_question(
    words: tuple[Message, ...], seconds: float
) -> None:
    talk = asked_again(*words, seconds=seconds)
    talk(PlaybackStopped(2, 3 * SECOND, 0))
    assert talk.sent(RewindAnswer, ever=True) == []
    assert talk.sent(Think, ever=True)[-1].utterances == (2,)


def test_the_answer_is_kept_until_the_request_to_repeat_is_over() -> None:
    talk = talk_in("holding")
    talk(PAUSED, UNHEARD, SpeechStarted(2, 2, 0))
    talk(PARDON, after_s=RULES.yield_s - 0.1)
    talk(Tick(2), after_s=0.5)
    assert talk.state == "holding"
    talk(SpeechEnded(2, 0, SECOND, last=True))
    assert talk.sent(RewindAnswer) == [AGAIN]


def test_an_answer_that_was_kept_for_words_that_became_others_is_dropped() -> None:
    talk = talk_in("holding")
    talk(PAUSED, PARDON, UNHEARD, SpeechStarted(2, 2, 0))
    talk(WordsHeard(2, 900, "pardon the noise", "yield", 0.9), after_s=0.5)
    talk(Tick(2), after_s=RULES.yield_s)
    assert (talk.state, talk.sent(Abandon)) == ("listening", [Abandon(2)])


@pytest.mark.parametrize(("kind", "repeats"), [("backchannel", True), ("noise", False)])
def test_a_request_that_was_taken_for_a_murmur_repeats_too_but_a_noise_does_not(
    kind: str, repeats: bool
) -> None:
    talk = talk_in("holding")
    talk(PAUSED, PARDON, Verdict(2, kind, 600))  # type: ignore[arg-type]  # a Literal
    assert talk.sent(RewindAnswer) == ([AGAIN] if repeats else [])
    talk.wait(RULES.rewind_s + 0.1)
    assert talk.state == "speaking"


def test_a_sound_before_the_sentence_is_repeated_is_judged_first() -> None:
    talk = asked_again(PARDON)
    talk(Onset(3, 0, speaking=True), after_s=0.1)
    talk(Tick(3), after_s=RULES.rewind_s)
    assert talk.state == "holding"
    talk(Verdict(3, "noise", 300))
    assert talk.state == "speaking"


# ── an answer to the box's question ──────────────────────────────────────────────────────────
def test_the_listener_is_told_of_an_onset_over_an_open_question_and_when_it_is_over() -> None:
    talk = Talk()
    talk.speech()
    talk.answer("It is noon.", "Shall I go on?")
    talk(Onset(2, 0, speaking=True), PlaybackPaused(2, 2, 3 * SECOND + 800, 0), after_s=3.0)
    assert [mode.asked for mode in talk.sent(SetListening)] == [2]
    talk(Verdict(2, "noise", 300))
    assert [mode.asked for mode in talk.sent(SetListening)] == [0]
    talk(Onset(3, 0, speaking=True), PlaybackPaused(2, 3, 2 * SECOND, 0), after_s=0.01)
    assert [mode.asked for mode in talk.sent(SetListening)][-1:] in ([], [0])
