"""An answer, from the thinker's sentences to what was heard."""

from __future__ import annotations

import pytest

from appliance.dialog.actions import AnnounceState, RaiseTurn, ReleaseHold, Remember, SendMessage
from appliance.dialog.state_machine import Tick
from appliance.language.catalogue import english
from appliance.messages.hearing import Onset, SpeechStarted, Verdict
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import EndAnswer, PrepareSpeech, Speak, Spoken
from appliance.messages.thinking import (
    Abandon,
    AnswerBegun,
    AnswerHeard,
    Sentence,
    Think,
    ThinkingProgress,
    ThoughtEnded,
)
from tests.dialog.talk import MOON, RULES, Talk, talk_in

LOST_THREAD = english().say("lost-thread")
LOST_VOICE = english().say("lost-voice")
NOTHING_TO_SAY = english().say("nothing-to-say")


# ── question and answer ──────────────────────────────────────────────────────────────────────
def test_a_question_is_answered_aloud_and_the_heard_part_is_remembered() -> None:
    talk = Talk()
    talk.speech(utterance=1, seconds=2.0)
    assert talk.said == [
        ReleaseHold(1),
        RaiseTurn(2),
        SendMessage("thinker", Think(2, (1,))),
        AnnounceState("thinking", 2, "asked"),
    ]
    talk(Sentence(2, 0, MOON[0]))
    assert talk.said == [SendMessage("speaker", Speak(2, 0, MOON[0]))]
    assert talk.state == "thinking"
    talk(Spoken(2, 0, 0, 32_000, 5.0), PlaybackStarted(2, 0))
    assert talk.state == "speaking"
    talk(ThoughtEnded(2, 1, "complete"))
    assert talk.said == [SendMessage("speaker", EndAnswer(2))]
    asked_at_s = 100.0 + 0.3 + 2.0
    talk(PlaybackFinished(2, 32_000, 0), after_s=2.0)
    assert talk.said == [
        SendMessage("thinker", AnswerHeard(2, MOON[0], complete=True)),
        Remember(2, asked_at_s, "", 2.0, MOON[0], complete=True),
        AnnounceState("idle", 2, "finished"),
    ]


def test_preparing_the_first_words_of_a_possible_answer_changes_no_state() -> None:
    talk = Talk()
    talk(Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    before = talk.it
    talk(AnswerBegun(MOON[0]))
    assert talk.said == [SendMessage("speaker", PrepareSpeech(MOON[0]))]
    assert talk.it == before


def test_during_an_answer_no_other_speech_is_prepared() -> None:
    talk = talk_in("speaking")
    talk(AnswerBegun(MOON[0]))
    assert talk.said == []


@pytest.mark.parametrize(
    ("thought", "spoken"),
    [
        (ThoughtEnded(2, 0, "complete"), NOTHING_TO_SAY),
        (ThoughtEnded(2, 0, "failed", "out of memory"), LOST_THREAD),
        (ThoughtEnded(2, 0, "failed", "HTTP 401", aloud="server-key"), english().say("server-key")),
    ],
)
def test_an_empty_thought_is_answered_by_the_box_itself_and_not_remembered(
    thought: ThoughtEnded, spoken: str
) -> None:
    talk = Talk()
    talk.speech()
    talk(thought)
    assert talk.sent(Speak) == [Speak(2, 0, spoken)]
    talk(Spoken(2, 0, 0, 16_000, 1.0), PlaybackStarted(2, 0), PlaybackFinished(2, 16_000, 0))
    assert (talk.state, talk.remembered()) == ("idle", [])
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, "", complete=False)]  # not asked again


def test_a_thought_that_failed_midway_is_remembered_up_to_the_failure() -> None:
    talk = Talk()
    talk.speech()
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "failed", "the model broke"))
    assert talk.sent(Speak) == [Speak(2, 0, MOON[0]), Speak(2, 1, LOST_THREAD)]
    talk(Spoken(2, 0, 0, 16_000, 1.0), Spoken(2, 1, 16_000, 16_000, 1.0), PlaybackStarted(2, 0))
    talk.finish()
    assert talk.remembered() == [(MOON[0], False)]


# ── holding and resuming ─────────────────────────────────────────────────────────────────────
def test_an_onset_before_the_first_sample_holds_the_answer_back() -> None:
    talk = Talk()
    talk.speech(1)
    talk(Sentence(2, 0, MOON[0]), Onset(2, 0, speaking=False), PlaybackStarted(2, 0))
    assert talk.state == "holding"
    talk(Verdict(2, "noise", 200))
    assert talk.state == "speaking"


def test_an_answer_may_finish_while_it_is_held() -> None:
    talk = talk_in("holding")
    talk(PlaybackFinished(2, 96_000, 0))
    assert (talk.state, talk.remembered()) == ("idle", [(" ".join(MOON), True)])
    assert ReleaseHold(2) in talk(Verdict(2, "noise", 200))


def test_an_answer_that_ends_as_it_is_cut_counts_as_heard() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300))
    talk.wait(RULES.yield_s + 0.1)
    talk(PlaybackFinished(2, 6 * 16_000, 0))
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, " ".join(MOON), complete=False)]


# ── deadlines ────────────────────────────────────────────────────────────────────────────────
def test_the_box_apologises_for_a_silent_thinker() -> None:
    talk = talk_in("thinking")
    talk.wait(RULES.think_s + 5)
    assert talk.sent(Abandon, ever=True) == [Abandon(2)]
    assert talk.sent(Speak, ever=True) == [Speak(2, 0, LOST_THREAD)]


def test_a_long_question_may_take_longer_to_think_about() -> None:
    talk = Talk()
    talk.speech(seconds=25.0)
    talk.wait(RULES.think_s + 20.0)
    assert talk.sent(Speak, ever=True) == []


def test_an_answer_that_never_starts_playing_is_abandoned_with_an_apology() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "complete"))
    talk.wait(RULES.margin_s + 1)
    assert talk.sent(Speak, ever=True)[-1].text == LOST_VOICE
    assert talk.remembered() == []


def test_an_answer_without_a_playback_end_is_remembered_as_far_as_it_played() -> None:
    talk = talk_in("speaking")
    talk.wait(6 + RULES.margin_s + 5)
    assert (talk.state, talk.remembered()) == ("idle", [(" ".join(MOON), False)])


def test_a_long_answer_may_play_to_its_end() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), Spoken(2, 0, 0, 90 * 16_000, 5.0), PlaybackStarted(2, 0))
    talk(ThoughtEnded(2, 1, "complete"))
    talk.wait(89.0)
    assert talk.state == "speaking"


# ── slow models ──────────────────────────────────────────────────────────────────────────────
def test_the_box_waits_for_a_slow_model_that_reports_progress() -> None:
    talk = talk_in("thinking")
    for _ in range(5):
        talk(ThinkingProgress(2), Tick(), after_s=29.0)
    assert (talk.state, talk.sent(Speak)) == ("thinking", [])
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "complete"))
    assert talk.sent(Speak)[0].text == MOON[0]


@pytest.mark.parametrize("turn", [1, 3])
def test_progress_of_another_answer_extends_no_deadline(turn: int) -> None:
    talk = talk_in("thinking")
    before_s = talk.it.until_s
    talk(ThinkingProgress(turn), after_s=5.0)
    assert talk.it.until_s == before_s


def test_a_model_that_reports_progress_forever_is_abandoned() -> None:
    talk = talk_in("thinking")
    spoken: list[Speak] = []
    while not spoken and talk.now_s < 1000.0:
        talk(ThinkingProgress(2), Tick(), after_s=5.0)
        spoken = talk.sent(Speak)
    assert spoken[0].text == LOST_THREAD
    assert talk.it.policy.max_think_s <= talk.now_s - 100.0 < talk.it.policy.max_think_s + 40


def test_a_model_whose_progress_reports_stop_is_abandoned() -> None:
    talk = talk_in("thinking")
    talk(ThinkingProgress(2), after_s=5.0)
    talk(Tick(), after_s=29.0)
    assert talk.sent(Speak) == []
    talk(Tick(), after_s=2.0)
    assert talk.sent(Speak)[0].text == LOST_THREAD


def test_a_cut_answer_is_remembered_up_to_the_word_that_the_voice_reported() -> None:
    """An estimate by letters would give `The moon is` for half of the audio."""
    talk = Talk()
    talk.speech()
    talk(Sentence(2, 0, "The moon is far away."))
    words = ((3, 2_000), (8, 14_000), (11, 17_000), (15, 24_000), (21, 32_000))
    talk(Spoken(2, 0, 0, 32_000, 5.0, words), PlaybackStarted(2, 0))
    talk(Onset(9, 0, speaking=True), after_s=1.0)
    talk(PlaybackPaused(2, 9, 16_500, 0), Verdict(9, "interruption", 300))
    talk(PlaybackStopped(2, 16_500, 0))
    assert talk.remembered() == [("The moon", False)]
    assert talk.sent(AnswerHeard, ever=True)[-1] == AnswerHeard(2, "The moon", complete=False)
