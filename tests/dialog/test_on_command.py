"""Commands: stop, mute, say, ask, forget, volume."""

from __future__ import annotations

import pytest

from appliance.dialog.actions import (
    EraseMemory,
    LogNote,
    RaiseTurn,
    ReleaseHold,
    SendMessage,
    SetMuted,
)
from appliance.dialog.table import STATES
from appliance.language.catalogue import english
from appliance.messages.commands import (
    Ask,
    Forget,
    ForgetTurn,
    Mute,
    Repeat,
    Say,
    SetVolume,
    StopSpeaking,
)
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.registry import Message
from appliance.messages.speech import Speak
from appliance.messages.thinking import Abandon, AnswerHeard, Think
from tests.dialog.talk import BEGUN, ENDED, MOON, ONSET, Talk, talk_in

NOTHING_SAID = english().say("nothing-said")


def test_stop_ends_the_answer_and_remembers_what_was_heard() -> None:
    talk = talk_in("speaking")
    talk(StopSpeaking(), after_s=1.0)
    assert talk.done(RaiseTurn) == [RaiseTurn(3)]
    talk(PlaybackStopped(2, 2 * 16_000, 0))
    assert talk.remembered() == [(MOON[0], False)]


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_a_stopped_question_is_not_asked_after_any_number_of_stops(stops: int) -> None:
    talk = Talk()
    talk(Onset(5, 0, speaking=False), SpeechStarted(5, 5, 0))
    talk(*[StopSpeaking()] * stops)
    talk(SpeechEnded(5, 0, 32_000, last=True), after_s=0.5)
    assert (talk.state, talk.sent(Think)) == ("idle", [])


def test_a_muted_box_accepts_no_speech_and_keeps_no_hold() -> None:
    talk = talk_in("speaking")
    talk(Mute(on=True))
    assert SetMuted(on=True) in talk.said
    assert ReleaseHold(9) in talk(ONSET)
    talk(BEGUN, ENDED)
    assert (talk.state, talk.sent(Think)) == ("muted", [])
    talk(Mute(on=False))
    assert (talk.state, talk.done(SetMuted)) == ("idle", [SetMuted(on=False)])


def test_a_muted_box_speaks_announcements_and_stays_muted() -> None:
    talk = talk_in("muted")
    talk(Say("The tea is ready."))
    talk(PlaybackStarted(talk.turn, 0), PlaybackFinished(talk.turn, 16_000, 0))
    assert (talk.state, talk.it.listening.muted) == ("muted", True)


def test_the_request_queue_is_bounded() -> None:
    talk = talk_in("speaking")
    talk(*(Say(f"Thing {number}.") for number in range(7)))
    assert len(talk.it.queue.requests) == 5
    assert len(talk.done(LogNote)) == 1  # many refusals give one line in the log
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


def test_forgetting_also_drops_the_answer_in_progress() -> None:
    talk = talk_in("speaking")
    talk(Forget(), PlaybackStopped(2, 96_000, 0))
    assert talk.sent(Forget) == [Forget()]
    assert talk.done(EraseMemory) == [EraseMemory()]
    assert (talk.sent(AnswerHeard), talk.remembered()) == ([], [])


def test_forgetting_one_turn_restarts_the_thinkers_context_and_erases_only_that_turn() -> None:
    chosen = ForgetTurn("2026-01-01T10:00:00+00:00", 3)
    for state in ("idle", "speaking"):
        talk = talk_in(state)
        talk(chosen)
        assert talk.sent(ForgetTurn) == [chosen]
        assert talk.done(EraseMemory) == [EraseMemory(chosen=(chosen.started, 3))]
        assert talk.sent(Forget) == []


def test_forgetting_does_not_interrupt_an_owner_who_is_speaking() -> None:
    talk = talk_in("listening")
    talk(Forget(), SpeechEnded(1, 0, 16_000, last=True))
    assert len(talk.sent(Think)) == 1


def test_the_volume_is_forwarded_to_playback() -> None:
    talk = Talk()
    assert talk(SetVolume(0.3)) == [SendMessage("playback", SetVolume(0.3))]


def test_an_announcement_starts_with_a_chime_on_request() -> None:
    talk = Talk()
    talk(Say("Dinner is ready.", chime=True))
    talk.wait(1.0)
    talk(StopSpeaking(), Say("Tea."))
    assert [speak.chime for speak in talk.sent(Speak, ever=True)] == [True, False]


# ── repeating ────────────────────────────────────────────────────────────────────────────────
def test_the_last_answer_is_repeated_as_far_as_it_was_generated() -> None:
    talk = talk_in("holding")
    talk(
        PlaybackPaused(2, 2, 33_000, 0),
        Verdict(2, "interruption", 300),
        PlaybackStopped(2, 33_000, 0),
    )
    talk(StopSpeaking(), Repeat())
    assert [speak.text for speak in talk.sent(Speak)] == list(MOON)
    turn = talk.turn
    talk(PlaybackFinished(turn, 0, 0))
    assert talk.remembered() == [("The moon is grey.", False)]  # once


def test_a_repeat_waits_until_nothing_plays() -> None:
    talk = talk_in("speaking")
    talk(Repeat())
    assert talk.sent(Speak) == []
    talk.finish(96_000)
    assert [speak.text for speak in talk.sent(Speak)] == list(MOON)


def test_with_nothing_to_repeat_the_box_says_so() -> None:
    talk = Talk()
    talk(Say("Tea."))
    talk.finish()
    talk(Repeat())
    assert [speak.text for speak in talk.sent(Speak)] == [NOTHING_SAID]


def test_forgetting_the_last_turn_reaches_thinker_and_disk() -> None:
    talk = talk_in("thinking")
    turn = talk.turn
    talk(Forget(last=True))
    assert talk.sent(Abandon) == [Abandon(turn)]
    assert talk.sent(Forget) == [Forget(last=True)]
    assert talk.done(EraseMemory) == [EraseMemory(last=True)]
    assert talk.state == "idle"
