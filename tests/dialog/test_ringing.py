"""Ringing timers: when a ring may begin, what ends it, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appliance.dialog.actions import AnnounceState, StopRinging
from appliance.dialog.on_tool import Ringing
from appliance.dialog.policy import NEVER
from appliance.dialog.state_machine import final_step
from appliance.messages.commands import Ask, ListenOnce, ModeName, Mute, Say, StopSpeaking
from appliance.messages.commands import TalkButton as Button
from appliance.messages.hearing import (
    Judgement,
    Onset,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WordsHeard,
)
from appliance.messages.playback import CardLost, PlaybackFinished, PlaybackStarted, PlaybackStopped
from appliance.messages.speech import Speak, Spoken
from appliance.messages.thinking import Think
from tests.dialog.talk import MOON, Talk, spoken, talk_in

EGGS = Ringing(("Your timer is done: eggs.",))


def rung(talk: Talk) -> bool:
    """Whether the last messages started a ring."""
    return any(speak.ring for speak in talk.sent(Speak))


def play(talk: Talk) -> None:
    """Play the announcement to its end."""
    turn = talk.turn
    talk(Spoken(turn, 0, 0, 16_000, 5.0), PlaybackStarted(turn, 0))
    talk(PlaybackFinished(turn, 16_000, 0), after_s=1.0)


def ringing() -> Talk:
    """An idle talk in which a timer rings."""
    talk = Talk()
    talk(EGGS)
    assert rung(talk)
    assert spoken(talk) == list(EGGS.lines)
    return talk


def test_watchers_can_distinguish_a_ring_from_an_announcement() -> None:
    assert [change.ring for change in ringing().done(AnnounceState)] == [True]
    talk = Talk()
    talk(Say("Dinner is ready."))
    assert [change.ring for change in talk.done(AnnounceState)] == [False]


def test_a_timer_rings_repeatedly_until_it_is_stopped() -> None:
    talk = ringing()
    for _ in range(5):
        play(talk)
        assert talk.state == "idle"
        assert talk.it.deadline_s < NEVER
        talk.wait(talk.it.policy.ring_every_s - 0.1)
        assert not rung(talk)
        talk.wait(0.2)
        assert rung(talk)
    talk(StopSpeaking())
    assert talk.done(StopRinging) == [StopRinging()]
    talk.wait(20.0)
    assert not rung(talk)


@pytest.mark.parametrize("state", ["thinking", "listening", "holding"])
def test_a_timer_does_not_ring_while_the_owner_speaks_or_awaits_an_answer(state: str) -> None:
    talk = talk_in(state)
    talk(EGGS)
    assert not rung(talk)
    assert talk.state == state


def test_a_timer_rings_after_the_owner_has_spoken_and_was_answered() -> None:
    talk = talk_in("listening")
    talk(EGGS)
    talk(SpeechEnded(1, 0, 32_000, last=True), after_s=1.0)
    assert talk.state == "thinking"
    turn = talk.answer("Yes.", seconds=1.0)
    assert not rung(talk)
    talk(PlaybackFinished(turn, 16_000, 0), after_s=1.0)
    assert rung(talk)


def test_a_ring_cuts_a_long_answer_and_its_heard_part_is_remembered() -> None:
    talk = talk_in("speaking")
    turn = talk.turn
    talk(EGGS)
    talk.wait(talk.it.policy.ring_patience_s - 0.5)
    assert not rung(talk)
    talk.wait(1.0)
    assert rung(talk)
    talk(PlaybackStopped(turn, 33_000, 0))
    assert talk.remembered() == [("The moon is grey.", False)]


def test_a_ring_waits_for_the_end_of_a_short_answer() -> None:
    talk = talk_in("speaking")
    talk(EGGS)
    talk(PlaybackFinished(talk.turn, 96_000, 0), after_s=2.0)
    assert talk.remembered() == [(" ".join(MOON), True)]
    assert rung(talk)


@pytest.mark.parametrize("kind", ["noise", "backchannel"])
def test_noise_and_backchannels_do_not_stop_a_ring(kind: Judgement) -> None:
    talk = ringing()
    talk(Spoken(talk.turn, 0, 0, 16_000, 5.0), PlaybackStarted(talk.turn, 0))
    talk(Onset(5, 0, speaking=True), after_s=0.2)
    talk(Verdict(5, kind, 300), after_s=0.3)
    assert talk.done(StopRinging) == []
    assert talk.state == "speaking"


def test_a_mere_stop_ends_a_ring() -> None:
    talk = ringing()
    talk(Spoken(talk.turn, 0, 0, 16_000, 5.0), PlaybackStarted(talk.turn, 0))
    talk(Onset(5, 0, speaking=True), WordsHeard(5, 300, "stop", "stop"), after_s=0.2)
    talk(Verdict(5, "interruption", 300), SpeechStarted(5, 5, 0), after_s=0.3)
    talk(SpeechEnded(5, 0, 16_000, last=True), after_s=0.5)
    assert talk.done(StopRinging) == [StopRinging()]
    assert not talk.sent(Think, ever=True)
    talk.wait(20.0)
    assert not rung(talk)


def test_speech_to_a_ringing_box_ends_the_ring_and_is_answered() -> None:
    talk = ringing()
    play(talk)
    talk.speech(5)
    assert talk.done(StopRinging) == [StopRinging()]
    assert talk.sent(Think)


def test_apparent_speech_during_the_first_ring_does_not_stop_it() -> None:
    """It may be the ring's own echo, and a ring must not stop itself."""
    talk = ringing()
    talk(Spoken(talk.turn, 0, 0, 16_000, 5.0), PlaybackStarted(talk.turn, 0))
    talk(Onset(5, 0, speaking=True), after_s=0.2)
    talk(Verdict(5, "interruption", 300), SpeechStarted(5, 5, 0), after_s=0.3)
    talk(SpeechEnded(5, 0, 16_000, last=True), after_s=0.5)
    assert talk.done(StopRinging) == []
    talk(PlaybackStopped(talk.turn - 1, 4000, 0))
    talk.answer(*MOON[:1])
    talk.finish(32_000)
    talk.wait(talk.it.policy.ring_every_s)
    assert rung(talk)


def test_speech_that_began_before_the_ring_does_not_stop_it() -> None:
    talk = talk_in("listening")
    talk(EGGS)
    talk(SpeechEnded(1, 0, 32_000, last=True), after_s=1.0)
    assert talk.done(StopRinging) == []


def test_buttons_stop_a_ring() -> None:
    for press in (StopSpeaking(), Button(pressed=True), ListenOnce(), Mute(on=True)):
        talk = ringing()
        talk(press)
        assert talk.done(StopRinging) == [StopRinging()]
        assert talk.it.ringing.lines == ()


def test_a_press_stops_a_ring_with_the_microphone_off() -> None:
    talk = talk_in("muted")
    talk(EGGS)
    assert rung(talk)
    talk(Button(pressed=True))
    assert talk.done(StopRinging) == [StopRinging()]


def test_a_timer_cancelled_by_the_tools_stops_ringing() -> None:
    talk = ringing()
    talk(Ringing(()))
    play(talk)
    assert talk.done(StopRinging) == []
    talk.wait(20.0)
    assert not rung(talk)


@pytest.mark.parametrize("mode", ["push_to_talk", "wake_word"])
def test_a_ringing_box_listens_in_every_mode(mode: ModeName) -> None:
    rules = replace(Talk().it.policy, by_voice=frozenset())
    talk = Talk(mode=mode, rules=rules)
    talk(EGGS)
    assert talk.sent(SetListening)[-1] == SetListening(True, "something rings")
    talk(StopSpeaking())
    assert not talk.sent(SetListening)[-1].on


def test_a_second_timer_rings_with_the_first() -> None:
    talk = ringing()
    play(talk)
    talk(Ringing((*EGGS.lines, "It is nine o'clock. Your alarm.")))
    assert rung(talk)
    assert spoken(talk) == [*EGGS.lines, "It is nine o'clock. Your alarm."]


def test_without_a_voice_a_ring_waits_for_a_later_deadline() -> None:
    talk = Talk()
    talk(CardLost("playback", "unplugged"))
    talk(EGGS)
    assert not rung(talk)
    talk.wait(10.0)
    assert talk.it.deadline_s > talk.now_s


def test_a_shutdown_does_not_stop_a_ring() -> None:
    talk = ringing()
    _, actions = final_step(talk.it, talk.now_s)
    assert not any(isinstance(action, StopRinging) for action in actions)


def test_a_typed_question_is_answered_between_two_rings() -> None:
    talk = ringing()
    talk(Ask("why?"))
    assert talk.sent(Think)
    talk.answer(*MOON[:1])
    talk.finish(32_000)
    assert not rung(talk)
    talk.wait(talk.it.policy.ring_every_s)
    assert rung(talk)
