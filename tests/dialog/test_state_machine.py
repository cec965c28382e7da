"""Who has the floor, row by row, race by race."""

from __future__ import annotations

from typing import get_args

import pytest

from appliance.dialog.actions import (
    AnnounceState,
    EraseMemory,
    LogNote,
    RaiseTurn,
    ReleaseHold,
    Remember,
    SendMessage,
    SendRecall,
    SetMuted,
)
from appliance.dialog.on_answer import LOST_THREAD, LOST_VOICE, NOTHING_TO_SAY
from appliance.dialog.policy import DialogPolicy
from appliance.dialog.state_machine import Tick, final_step, initial_state
from appliance.dialog.table import EVERYWHERE, STATES, TABLE
from appliance.dialog.transition import NOT_READY
from appliance.messages.commands import Ask, Forget, Mute, Say, SetVolume, StopSpeaking
from appliance.messages.hearing import Onset, SetListening, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import (
    CardFound,
    CardLost,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.registry import Message
from appliance.messages.routes import ROUTES
from appliance.messages.speech import EndAnswer, Speak, SpeakerReady, SpeakFailed, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    Abandon,
    AnswerHeard,
    Recall,
    RecallWanted,
    Sentence,
    Think,
    ThinkerReady,
    ThinkingProgress,
    ThoughtEnded,
)
from tests.dialog.talk import MOON, Talk, talk_in

RULES = DialogPolicy()
FROM_THE_CONDUCTOR = {
    message.__name__
    for message in get_args(Message)
    if not any(r.message is message and "conductor" in r.receivers for r in ROUTES)
} - {"Forgotten"}  # the memory's answer, which goes through the conversation to the shell
TO_ITSELF = {"ToolReply", "Ringing"}  # the conductor's own tools, in its own process
ONLY_WATCHED = {"Opinion", "Dropouts"}  # they change nothing
NO_MATTER_OF_IT = {  # the conductor's own
    "SetVoice",
    "Restart",
    "BoxStatus",
    "BrokerChanged",
    "HouseResponse",
    "ButtonPressed",
    "MuteSwitched",
    "ButtonFault",
    "VoicesAvailable",
    "Transcribed",
}


# ── the table ────────────────────────────────────────────────────────────────────────────────
def test_every_message_has_a_row_or_is_known_to_mean_nothing() -> None:
    rows = {message.__name__ for message in (*TABLE, *EVERYWHERE)}
    every = {message.__name__ for message in get_args(Message)}
    assert rows | FROM_THE_CONDUCTOR | ONLY_WATCHED | NO_MATTER_OF_IT == every | TO_ITSELF
    assert not set(TABLE) & set(EVERYWHERE)


def test_every_row_means_something_in_states_that_there_are() -> None:
    assert all(row and set(row) <= set(STATES) for row in TABLE.values())


ONSET, BACK = Onset(9, 0, speaking=True), Verdict(9, "backchannel", 300)
BEGUN, ENDED = SpeechStarted(9, 9, 0), SpeechEnded(9, 0, 32_000, last=True)
PIECE = SpeechEnded(9, 0, 32_000, last=False)
YIELD = Verdict(9, "interruption", 300)
SAME = " ".join(STATES)


@pytest.mark.parametrize(
    ("messages", "after"),
    # the state that follows in:  idle listening thinking speaking holding muted failed
    [
        ((ONSET,), "idle listening thinking holding holding muted failed"),
        ((ONSET, BACK), "idle listening thinking speaking speaking muted failed"),
        ((ONSET, YIELD), "idle listening thinking listening listening muted failed"),
        ((BEGUN,), "listening listening listening listening listening muted failed"),
        ((PIECE,), "listening listening listening listening listening muted failed"),
        ((ENDED,), "thinking thinking thinking thinking thinking muted failed"),
        ((Ask("why?"),), "thinking listening thinking thinking holding thinking failed"),
        ((Say("tea"),), "speaking listening thinking speaking holding speaking failed"),
        ((StopSpeaking(),), "idle idle idle idle idle muted failed"),
        ((Mute(on=True),), "muted muted muted muted muted muted failed"),
        ((Mute(on=False),), "idle listening thinking speaking holding idle failed"),
        ((Forget(),), "idle listening idle idle idle muted failed"),
        ((SetVolume(0.5),), SAME),
        ((ThinkerReady("x"),), SAME),
        ((RecallWanted(),), SAME),
        ((ThinkingProgress(2),), SAME),
        ((PartChanged("listener", "down"),), "idle idle thinking speaking speaking muted failed"),
        ((PartChanged("thinker", "down"),), SAME),
        ((PartChanged("speaker", "down"),), SAME),
        ((PartChanged("speaker", "failed"),), SAME),
        ((PartChanged("playback", "down"),), SAME),
        ((PartChanged("playback", "failed"),), "failed failed failed failed failed failed failed"),
        ((PartChanged("listener", "failed"),), "failed failed failed failed failed failed failed"),
        ((CardLost("playback", "gone"),), "failed failed failed failed failed failed failed"),
        (
            (CardLost("playback", "gone"), CardFound("playback", "hw:0", 16_000)),
            "idle idle idle idle idle muted idle",
        ),
    ],
)  # fmt: skip
def test_each_message_leads_from_each_state_to_the_right_one(
    messages: tuple[Message, ...], after: str
) -> None:
    for state, expected in zip(STATES, after.split(), strict=True):
        talk = talk_in(state)
        talk(*messages)
        assert (state, talk.state) == (state, expected)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "message",
    [
        Sentence(1, 0, "of an old turn"), ThoughtEnded(1, 1, "complete"), PlaybackStarted(1, 0),
        PlaybackResumed(1, 0, 0, 0), PlaybackFinished(1, 0, 0), PlaybackStopped(1, 0, 0), Spoken(1,
        0, 0, 9, 1.0),
        SpeakFailed(1, 0, "no"), PlaybackPaused(1, 0, 0, 0), Verdict(77, "interruption", 100),
        Verdict(77, "noise", 100), Sentence(99, 0, "of a turn to come"),
    ],
)  # fmt: skip
def test_messages_of_other_turns_and_other_onsets_change_nothing(
    state: str, message: Message
) -> None:
    talk = talk_in(state)
    before = talk.it
    assert talk(message) == []
    assert talk.it == before


# ── question and answer ──────────────────────────────────────────────────────────────────────
def test_a_question_is_answered_aloud_and_what_was_heard_is_remembered() -> None:
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


def test_an_utterance_that_ends_without_having_begun_is_thought_about_all_the_same() -> None:
    talk = Talk()
    talk(SpeechEnded(4, 0, 16_000, last=True))
    assert talk.sent(Think) == [Think(2, (4,))]


def test_an_utterance_without_a_sample_is_no_question() -> None:
    talk = talk_in("listening")
    talk(SpeechEnded(1, 0, 0, last=True))
    assert (talk.state, talk.sent(Think)) == ("idle", [])


def test_an_owner_who_goes_on_speaking_while_the_box_thinks_is_listened_to() -> None:
    talk = Talk()
    talk.speech(1)
    talk(Sentence(2, 0, "Well."), Onset(2, 0, speaking=False), SpeechStarted(2, 2, 0))
    assert talk.said[-3:] == [
        SendMessage("thinker", Abandon(2)),
        RaiseTurn(3),
        AnnounceState("listening", 3, "the owner speaks"),
    ]
    talk(SpeechEnded(2, 0, 16_000, last=True), after_s=1.0)
    assert talk.sent(Think) == [Think(4, (2,))]  # the thinker keeps the first piece by itself
    assert talk.sent(AnswerHeard, ever=True) == []


def test_the_memory_knows_both_pieces_of_a_question_that_came_in_two() -> None:
    talk = Talk()
    talk(Ask("about the moon"))
    talk(Ask("or the sea"))
    talk.answer("The sea is wet.")
    talk.finish()
    remembered = talk.done(Remember)
    assert [(m.asked, m.heard) for m in remembered] == [
        ("about the moon or the sea", "The sea is wet.")
    ]


@pytest.mark.parametrize(
    ("thought", "spoken"),
    [
        (ThoughtEnded(2, 0, "complete"), NOTHING_TO_SAY),
        (ThoughtEnded(2, 0, "failed", "out of memory"), LOST_THREAD),
        (ThoughtEnded(2, 0, "failed", "HTTP 401", aloud="It wants a key."), "It wants a key."),
    ],
)
def test_a_thought_without_words_is_answered_by_the_box_itself_and_not_remembered(
    thought: ThoughtEnded, spoken: str
) -> None:
    talk = Talk()
    talk.speech()
    talk(thought)
    assert talk.sent(Speak) == [Speak(2, 0, spoken)]
    talk(Spoken(2, 0, 0, 16_000, 1.0), PlaybackStarted(2, 0), PlaybackFinished(2, 16_000, 0))
    assert (talk.state, talk.remembered()) == ("idle", [])
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, "", complete=False)]  # not to be asked again


def test_of_a_thought_that_failed_halfway_the_good_half_is_remembered() -> None:
    talk = Talk()
    talk.speech()
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "failed", "the model broke"))
    assert talk.sent(Speak) == [Speak(2, 0, MOON[0]), Speak(2, 1, LOST_THREAD)]
    talk(Spoken(2, 0, 0, 16_000, 1.0), Spoken(2, 1, 16_000, 16_000, 1.0), PlaybackStarted(2, 0))
    talk.finish()
    assert talk.remembered() == [(MOON[0], False)]


# ── holding, resuming, yielding ──────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ["backchannel", "noise"])
def test_a_backchannel_or_a_noise_lets_the_answer_go_on(kind: str) -> None:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 16_000, 0), Verdict(2, kind, 300))  # type: ignore[arg-type]  # a Literal
    assert talk.said == [ReleaseHold(2), AnnounceState("speaking", 2, kind)]
    talk(PlaybackResumed(2, 2, 16_000, 0))
    talk.finish()
    assert talk.remembered() == [(" ".join(MOON), True)]


def test_an_interruption_drops_what_is_left_and_only_what_was_heard_is_kept() -> None:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 16_000, 0), Verdict(2, "interruption", 300))
    assert talk.said == [
        SendMessage("thinker", Abandon(2)),
        RaiseTurn(3),
        ReleaseHold(2),
        AnnounceState("listening", 3, "interrupted"),
    ]
    talk(SpeechStarted(2, 2, 0), PlaybackStopped(2, 3 * 16_000, 0))
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, "The moon is grey. It has", complete=False)]
    talk(SpeechEnded(2, 0, 16_000, last=True))
    assert talk.sent(Think) == [Think(4, (2,))]
    assert talk.remembered() == [("The moon is grey. It has", False)]


def test_of_an_answer_cut_before_its_first_word_the_question_is_kept() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300), PlaybackStopped(2, 100, 0))
    assert (talk.sent(AnswerHeard, ever=True), talk.remembered()) == ([], [])


def test_an_interruption_without_words_leaves_the_box_idle() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300))
    talk.wait(RULES.speech_s + 0.1)
    assert talk.state == "idle"


def test_an_interruption_that_comes_after_the_box_went_on_is_still_obeyed() -> None:
    talk = talk_in("holding")
    talk.wait(RULES.verdict_s + 0.1)
    assert talk.state == "speaking"
    talk(Verdict(2, "interruption", 1400))
    assert talk.state == "listening"


def test_without_a_verdict_the_answer_goes_on() -> None:
    talk = talk_in("holding")
    assert ReleaseHold(2) in talk.wait(RULES.verdict_s + 0.1)
    assert talk.state == "speaking"


def test_a_new_onset_while_holding_is_the_one_that_counts() -> None:
    talk = talk_in("holding")
    talk(Onset(3, 0, speaking=True))
    assert talk(Verdict(2, "backchannel", 300)) == []
    assert ReleaseHold(3) in talk(Verdict(3, "backchannel", 300))


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


def test_an_onset_just_after_the_end_may_become_the_next_question() -> None:
    talk = talk_in("speaking")
    talk(PlaybackFinished(2, 96_000, 0), ONSET, YIELD, BEGUN, ENDED)
    assert talk.sent(Think) == [Think(3, (9,))]


def test_a_hold_of_which_no_message_came_is_let_go() -> None:
    talk = talk_in("speaking")
    talk.wait(0.5, hold=42)
    assert talk.done(ReleaseHold) == []
    talk.wait(RULES.verdict_s + 0.1, hold=42)
    assert talk.done(ReleaseHold) == [ReleaseHold(42)]


# ── races between the old answer and the new question ────────────────────────────────────────
def quick_interruption() -> Talk:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 3 * 16_000, 0))
    talk(Verdict(2, "interruption", 300), SpeechEnded(2, 0, 16_000, last=True))
    return talk


def test_the_next_question_waits_until_it_is_known_what_was_heard() -> None:
    talk = quick_interruption()
    assert (talk.state, talk.sent(Think)) == ("thinking", [])
    talk(PlaybackStopped(2, 4 * 16_000, 0), after_s=0.05)
    assert [type(m) for m in talk.sent(object)] == [AnswerHeard, Think]
    assert talk.sent(AnswerHeard)[0].text == "The moon is grey. It has no air."


def test_it_does_not_wait_for_long() -> None:
    talk = quick_interruption()
    talk(Tick(), after_s=RULES.stopped_s + 0.01)
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, "The moon is grey. It has", complete=False)]
    assert talk.sent(Think) == [Think(4, (2,))]
    assert talk(PlaybackStopped(2, 4 * 16_000, 0)) == []  # too late


def test_a_question_that_is_overtaken_while_it_waits_reaches_the_thinker_all_the_same() -> None:
    talk = quick_interruption()
    talk(SpeechStarted(3, 3, 0))
    assert [type(m) for m in talk.sent(object)] == [AnswerHeard, Think, Abandon]


def test_an_answer_that_ends_just_as_it_is_cut_counts_as_heard() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300), PlaybackFinished(2, 6 * 16_000, 0))
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, " ".join(MOON), complete=False)]


# ── deadlines ────────────────────────────────────────────────────────────────────────────────
def test_a_thinker_that_says_nothing_is_apologised_for() -> None:
    talk = talk_in("thinking")
    talk.wait(RULES.think_s + 5)
    assert talk.sent(Abandon, ever=True) == [Abandon(2)]
    assert talk.sent(Speak, ever=True) == [Speak(2, 0, LOST_THREAD)]


def test_a_long_question_may_take_longer_to_think_about() -> None:
    talk = Talk()
    talk.speech(seconds=25.0)
    talk.wait(RULES.think_s + 20.0)
    assert talk.sent(Speak, ever=True) == []


def test_an_answer_that_never_sounds_is_given_up_and_said_so() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "complete"))
    talk.wait(RULES.margin_s + 1)
    assert talk.sent(Speak, ever=True)[-1].text == LOST_VOICE
    assert talk.remembered() == []


def test_an_answer_whose_end_never_comes_is_remembered_as_far_as_it_sounded() -> None:
    talk = talk_in("speaking")
    talk.wait(6 + RULES.margin_s + 5)
    assert (talk.state, talk.remembered()) == ("idle", [(" ".join(MOON), False)])


def test_a_long_answer_may_sound_to_its_end() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), Spoken(2, 0, 0, 90 * 16_000, 5.0), PlaybackStarted(2, 0))
    talk(ThoughtEnded(2, 1, "complete"))
    talk.wait(89.0)
    assert talk.state == "speaking"


# ── parts come and go ────────────────────────────────────────────────────────────────────────
def test_a_box_whose_thinker_is_not_ready_says_so() -> None:
    talk = Talk(ready=False)
    talk.speech()
    assert (talk.sent(Think), talk.sent(Speak)[0].text) == ([], NOT_READY)


def test_a_thinker_that_dies_at_its_work_is_apologised_for() -> None:
    talk = talk_in("thinking")
    talk(PartChanged("thinker", "down", "was ended by SIGKILL"))
    assert talk.sent(Speak) == [Speak(2, 0, NOT_READY)]
    talk(Spoken(2, 0, 0, 16_000, 1.0), PlaybackStarted(2, 0), PlaybackFinished(2, 16_000, 0))
    assert (talk.state, talk.remembered()) == ("idle", [])


def test_what_a_dead_thinker_said_is_still_spoken() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), Spoken(2, 0, 0, 16_000, 1.0), PlaybackStarted(2, 0))
    talk(PartChanged("thinker", "down"))
    assert talk.sent(EndAnswer) == [EndAnswer(2)]
    talk.finish()
    assert talk.remembered() == [(MOON[0], False)]


def test_a_thinker_that_comes_back_is_given_the_last_turns() -> None:
    talk = talk_in("idle")
    talk(PartChanged("thinker", "down"))
    assert talk(RecallWanted()) == [SendRecall()]
    talk(ThinkerReady("pocket"))
    talk.speech()
    assert len(talk.sent(Think)) == 1


def test_until_the_thinker_has_read_what_stands_first_the_owner_is_asked_to_wait() -> None:
    talk = Talk(ready=False)
    talk(RecallWanted())
    talk.speech()
    assert (talk.sent(Think), talk.sent(Speak)[0].text) == ([], NOT_READY)


def test_a_slow_model_that_gets_on_is_waited_for() -> None:
    talk = talk_in("thinking")
    for _ in range(5):
        talk(ThinkingProgress(2), Tick(), after_s=29.0)
    assert (talk.state, talk.sent(Speak)) == ("thinking", [])
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "complete"))
    assert talk.sent(Speak)[0].text == MOON[0]


@pytest.mark.parametrize("turn", [1, 3])
def test_news_of_another_answer_puts_nothing_off(turn: int) -> None:
    talk = talk_in("thinking")
    before_s = talk.it.until_s
    talk(ThinkingProgress(turn), after_s=5.0)
    assert talk.it.until_s == before_s


def test_a_model_that_gets_on_for_ever_is_given_up() -> None:
    talk = talk_in("thinking")
    spoken: list[Speak] = []
    while not spoken and talk.now_s < 1000.0:
        talk(ThinkingProgress(2), Tick(), after_s=5.0)
        spoken = talk.sent(Speak)
    assert spoken[0].text == LOST_THREAD
    assert talk.it.policy.max_think_s <= talk.now_s - 100.0 < talk.it.policy.max_think_s + 40


def test_a_model_of_which_nothing_is_heard_is_given_up() -> None:
    talk = talk_in("thinking")
    talk(ThinkingProgress(2), after_s=5.0)
    talk(Tick(), after_s=29.0)
    assert talk.sent(Speak) == []
    talk(Tick(), after_s=2.0)
    assert talk.sent(Speak)[0].text == LOST_THREAD


def test_a_listener_that_dies_leaves_no_hold_behind() -> None:
    talk = talk_in("holding")
    assert talk(PartChanged("listener", "down")) == [
        ReleaseHold(2),
        AnnounceState("speaking", 2, "the listener is gone"),
    ]


def test_a_speaker_that_comes_back_is_told_again_that_the_answer_has_ended() -> None:
    talk = talk_in("speaking")
    talk(PartChanged("speaker", "down"), SpeakerReady("espeak"))
    assert talk.sent(EndAnswer) == [EndAnswer(2)]


def test_an_answer_that_was_lost_with_the_speaker_is_owned_up_to() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "complete"))
    talk(PartChanged("speaker", "down"), SpeakerReady("espeak"), PlaybackFinished(2, 0, 0))
    assert talk.sent(Speak) == [Speak(3, 0, LOST_VOICE)]
    assert talk.remembered() == []


def test_a_playback_that_comes_back_goes_on_with_the_answer() -> None:
    talk = talk_in("speaking")
    talk(PartChanged("playback", "down"), after_s=3.0)
    talk(PlaybackStarted(2, 0), after_s=2.0)
    assert talk.it.answer is not None
    assert talk.it.answer.position_at(talk.now_s) == 3 * 16_000
    talk.finish()
    assert talk.remembered() == [(" ".join(MOON), True)]


def test_a_broken_ear_is_said_aloud_once_and_shown_until_it_is_mended() -> None:
    talk = Talk()
    talk(PartChanged("listener", "failed"))
    assert "listener" in talk.sent(Speak)[0].text
    talk.wait(10 * RULES.failed_s)
    assert (talk.state, talk.sent(Speak)) == ("failed", [])
    talk(PartChanged("listener", "up"))
    assert talk.state == "idle"


def test_a_broken_voice_is_shown_and_not_spoken_of() -> None:
    talk = talk_in("idle")
    talk(PartChanged("playback", "failed"))
    assert (talk.state, talk.sent(Speak)) == ("failed", [])


def test_a_deaf_box_still_answers_what_is_typed() -> None:
    talk = Talk()
    talk(CardLost("capture", "unplugged"), PlaybackFinished(2, 0, 0))
    talk(Ask("hello?"))
    assert talk.state == "thinking"
    talk.answer("Hello.")
    talk.finish()
    assert talk.state == "failed"


# ── commands ─────────────────────────────────────────────────────────────────────────────────
def test_stop_ends_the_answer_and_remembers_what_was_heard() -> None:
    talk = talk_in("speaking")
    talk(StopSpeaking(), after_s=1.0)
    assert talk.done(RaiseTurn) == [RaiseTurn(3)]
    talk(PlaybackStopped(2, 2 * 16_000, 0))
    assert talk.remembered() == [(MOON[0], False)]


def test_what_was_stopped_is_not_answered_after_all() -> None:
    talk = talk_in("listening")
    talk(StopSpeaking(), SpeechEnded(1, 0, 16_000, last=True))
    assert (talk.state, talk.sent(Think)) == ("idle", [])


def test_a_question_that_was_stopped_is_not_asked_again() -> None:
    talk = talk_in("thinking")
    talk(StopSpeaking())
    assert talk.sent(object) == [Abandon(2), AnswerHeard(2, "", complete=False)]


def test_stop_closes_the_question_that_the_thinker_kept() -> None:
    talk = talk_in("thinking")
    talk(BEGUN, StopSpeaking())
    assert talk.sent(object) == [Abandon(2), AnswerHeard(2, "", complete=False)]


def test_a_muted_box_hears_nothing_and_keeps_no_hold() -> None:
    talk = talk_in("speaking")
    talk(Mute(on=True))
    assert SetMuted(on=True) in talk.said
    assert ReleaseHold(9) in talk(ONSET)
    talk(BEGUN, ENDED)
    assert (talk.state, talk.sent(Think)) == ("muted", [])
    talk(Mute(on=False))
    assert (talk.state, talk.done(SetMuted)) == ("idle", [SetMuted(on=False)])


def test_a_muted_box_still_says_what_it_is_told_to_and_is_muted_after_it() -> None:
    talk = talk_in("muted")
    talk(Say("The tea is ready."))
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16_000, 0))
    assert (talk.state, talk.it.listening.muted) == ("muted", True)


def test_announcements_wait_until_nothing_else_sounds() -> None:
    talk = talk_in("speaking")
    talk(Say("Tea."), Say("Cake."))
    assert talk.sent(Speak) == []
    talk.finish()
    assert talk.sent(Speak)[0].text == "Tea."
    talk(PlaybackStarted(talk.turn, 0))
    talk.finish()
    assert talk.sent(Speak)[0].text == "Cake."
    assert talk.sent(AnswerHeard) == []


def test_an_announcement_does_not_begin_over_an_onset() -> None:
    talk = Talk()
    talk(Onset(1, 0, speaking=False), Say("Tea."))
    assert talk.sent(Speak) == []
    talk(Verdict(1, "noise", 150))
    assert talk.sent(Speak)[0].text == "Tea."


def test_only_so_many_things_wait() -> None:
    talk = talk_in("speaking")
    talk(*(Say(f"Thing {number}.") for number in range(7)))
    assert len(talk.it.queue.requests) == 5
    assert len(talk.done(LogNote)) == 1  # of a crowd there is one line in the log
    talk(StopSpeaking())
    talk(*(Say(f"Thing {number}.") for number in range(9)))
    assert len(talk.done(LogNote)) == 1


def test_a_typed_question_interrupts_an_answer_and_waits_for_an_owner_who_speaks() -> None:
    talk = talk_in("speaking")
    talk(Ask("why?"), PlaybackStopped(2, 0, 0))
    assert talk.sent(Think) == [Think(4, (), "why?")]
    talk = talk_in("listening")
    talk(Ask("why?"))
    assert talk.sent(Think) == []
    assert talk.it.queue.requests == (Ask("why?"),)


@pytest.mark.parametrize("command", [Say("  "), Ask("\n")])
def test_a_command_without_words_does_nothing(command: Message) -> None:
    for state in STATES:
        assert talk_in(state)(command) == []


def test_forgetting_drops_the_answer_in_the_air_too() -> None:
    talk = talk_in("speaking")
    talk(Forget(), PlaybackStopped(2, 96_000, 0))
    assert talk.sent(Forget) == [Forget()]
    assert talk.done(EraseMemory) == [EraseMemory()]
    assert (talk.sent(AnswerHeard), talk.remembered()) == ([], [])


def test_forgetting_does_not_silence_an_owner_who_speaks() -> None:
    talk = talk_in("listening")
    talk(Forget(), SpeechEnded(1, 0, 16_000, last=True))
    assert len(talk.sent(Think)) == 1


def test_the_volume_is_passed_on() -> None:
    talk = Talk()
    assert talk(SetVolume(0.3)) == [SendMessage("playback", SetVolume(0.3))]


def test_a_playback_that_comes_up_anew_is_as_loud_as_the_last_one() -> None:
    talk = Talk()
    assert talk(PartChanged("playback", "up")) == []
    talk(SetVolume(0.3))
    assert talk(PartChanged("playback", "up")) == [SendMessage("playback", SetVolume(0.3))]
    assert talk(PartChanged("speaker", "up")) == []


def test_an_announcement_has_a_chime_where_one_is_wanted() -> None:
    talk = Talk()
    talk(Say("Dinner is ready.", chime=True))
    talk.wait(1.0)
    talk(StopSpeaking(), Say("Tea."))
    assert [speak.chime for speak in talk.sent(Speak, ever=True)] == [True, False]


# ── beginning and ending ─────────────────────────────────────────────────────────────────────
def test_a_conductor_that_takes_over_frees_the_floor() -> None:
    it, actions = initial_state(RULES, 5.0, turn=7, hold=4)
    assert actions == (
        SendMessage("thinker", Abandon(7)),
        RaiseTurn(8),
        ReleaseHold(4),
        AnnounceState("idle", 8, "started again"),
        SendMessage("listener", SetListening(on=True, why="open")),
    )
    assert it.parts.thinker_up


def test_a_conductor_that_takes_over_a_muted_box_leaves_it_muted() -> None:
    it, _ = initial_state(RULES, 5.0, turn=7, hold=4, muted=True)
    assert (it.state, it.listening.muted) == ("muted", True)


def test_switching_off_remembers_what_was_heard() -> None:
    talk = talk_in("speaking")
    _, actions = final_step(talk.it, talk.now_s + 2.0)
    assert [a.heard for a in actions if isinstance(a, Remember)] == [MOON[0]]


def test_recall_is_the_conductors_word_and_moves_nothing() -> None:
    talk = talk_in("speaking")
    assert talk(Recall(())) == []
