"""Which speech is accepted: modes, the talk button, the wake word, and recognised words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appliance.dialog.actions import AcknowledgePress, LogNote, RaiseTurn
from appliance.dialog.policy import NEVER, DialogPolicy
from appliance.dialog.state_machine import Tick
from appliance.messages.commands import ListenOnce, ModeName, Mute, Say, SetMode, StopSpeaking
from appliance.messages.commands import TalkButton as Button
from appliance.messages.hearing import (
    Onset,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WakeWordHeard,
    WordsHeard,
)
from appliance.messages.playback import PlaybackPaused, PlaybackStopped
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import Abandon, AnswerHeard, Think
from tests.dialog.talk import MOON, RULES, Talk, talk_in

DOWN, UP = Button(pressed=True), Button(pressed=False)

TOGGLE = replace(RULES, toggle=True)

BY_VOICE = replace(RULES, by_voice=frozenset(("wake_word", "push_to_talk")))


def listening(talk: Talk) -> SetListening:
    assert talk.it.listening.sent is not None
    return talk.it.listening.sent


def says(talk: Talk, utterance: int, seconds: float = 1.0) -> None:
    """Send the listener's messages of an utterance from its onset to its end."""
    talk(Onset(utterance, talk.index, speaking=False), SpeechStarted(utterance, utterance, 0))
    talk(SpeechEnded(utterance, 0, round(16_000 * seconds), last=True), after_s=seconds)


# ── which speech is accepted ─────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("mode", "rules", "on", "over_box"),
    [
        ("open", RULES, True, True),
        ("wake_word", RULES, False, True),
        ("wake_word", replace(RULES, by_voice=frozenset()), False, False),
        ("push_to_talk", RULES, False, False),
        ("push_to_talk", BY_VOICE, False, True),
    ],
)
def test_while_idle_the_mode_decides_which_speech_is_accepted(
    mode: ModeName, rules: DialogPolicy, on: bool, over_box: bool
) -> None:
    now = listening(Talk(mode=mode, rules=rules))
    assert (now.on, now.over_box, now.held) == (on, over_box, False)


def test_a_restarted_listener_receives_the_listening_state_again() -> None:
    talk = Talk(mode="push_to_talk")
    assert talk(PartChanged("listener", "down")) == []
    talk(PartChanged("listener", "up"))
    assert talk.sent(SetListening) == [SetListening(False, "the button is up", over_box=False)]


def test_the_listening_state_is_sent_on_changes_only() -> None:
    talk = talk_in("speaking")
    assert talk.sent(SetListening, ever=True) == [SetListening(True, "open")]


def test_a_new_mode_takes_effect_at_once() -> None:
    talk = Talk()
    talk(SetMode("wake_word"))
    assert not listening(talk).on
    talk(SetMode("open"))
    assert listening(talk).on


def test_a_muted_box_accepts_no_speech_in_any_mode() -> None:
    for mode in ("open", "wake_word", "push_to_talk"):
        talk = Talk(mode=mode)
        talk(Mute(on=True), DOWN, UP, ListenOnce(), WakeWordHeard(9, "okay nabu"))
        assert (talk.state, listening(talk).on) == ("muted", False)
        assert talk.done(AcknowledgePress) == 3 * [AcknowledgePress()]


@pytest.mark.parametrize("mode", ["open", "wake_word", "push_to_talk"])
@pytest.mark.parametrize("command", [DOWN, ListenOnce()])
def test_the_button_stops_a_speaking_muted_box_and_shows_no_listening(
    mode: ModeName, command: Button | ListenOnce
) -> None:
    talk = Talk(mode=mode)
    talk(Mute(on=True), Say("The washing machine is done."))
    assert (talk.state, listening(talk).on, listening(talk).over_box) == ("speaking", False, False)
    talk(Onset(1, 0, speaking=True), Verdict(1, "interruption", 300))  # recorded before the mute
    assert talk.state == "speaking"
    talk(command)
    assert (talk.state, talk.it.answer, talk.it.listening.button_down) == ("muted", None, False)
    talk(UP)
    assert talk.state == "muted"


# ── push to talk ─────────────────────────────────────────────────────────────────────────────
def test_the_box_listens_while_the_button_is_down_and_thinks_when_it_is_released() -> None:
    talk = Talk(mode="push_to_talk")
    talk(DOWN)
    assert (talk.state, listening(talk).held) == ("listening", True)
    assert talk.done(AcknowledgePress)
    talk(Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    talk.wait(20.0)
    assert talk.state == "listening"
    talk(UP)
    assert listening(talk) == SetListening(True, "the floor is open", over_box=False)
    talk(SpeechEnded(1, 0, 300_000, last=True))
    assert talk.sent(Think) == [Think(2, (1,))]
    assert not listening(talk).on


def test_a_press_without_speech_returns_the_box_to_idle() -> None:
    talk = Talk(mode="push_to_talk")
    talk(DOWN, Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    talk(UP, SpeechEnded(1, 0, 0, last=True), after_s=1.0)
    assert (talk.state, talk.sent(Think)) == ("idle", [])


def test_without_a_message_of_the_listener_the_box_returns_to_idle_soon() -> None:
    talk = Talk(mode="push_to_talk")
    talk(DOWN)
    talk(UP, after_s=1.0)
    talk.wait(RULES.ended_s + 0.2)
    assert talk.state == "idle"


def test_a_press_during_an_answer_drops_the_answer_before_it_is_acknowledged() -> None:
    talk = Talk(mode="push_to_talk")
    talk.speech(1)
    turn = talk.answer(*MOON)
    talk(PlaybackPaused(turn, 0, 3 * 16_000, 0), DOWN, after_s=3.0)
    kinds = [type(action) for action in talk.said]
    assert kinds.index(RaiseTurn) < kinds.index(AcknowledgePress)
    talk(PlaybackStopped(turn, 3 * 16_000, 0))
    assert talk.sent(AnswerHeard) == [AnswerHeard(turn, "The moon is grey. It has", complete=False)]
    assert (talk.state, listening(talk).held) == ("listening", True)


def test_in_push_to_talk_speech_interrupts_an_answer_only_if_the_settings_say_so() -> None:
    for rules, over_box in ((RULES, False), (BY_VOICE, True)):
        talk = Talk(mode="push_to_talk", rules=rules)
        says(talk, 1)
        talk.answer(*MOON)
        assert listening(talk).over_box == over_box


def test_a_toggle_begins_with_one_press_and_ends_with_the_next() -> None:
    talk = Talk(mode="push_to_talk", rules=TOGGLE)
    talk(DOWN, UP)
    assert listening(talk).held
    talk(SpeechStarted(1, 1, 0))
    talk(DOWN, UP, after_s=5.0)
    assert not listening(talk).held
    talk(SpeechEnded(1, 0, 16_000, last=True))
    assert talk.sent(Think) == [Think(2, (1,))]


@pytest.mark.parametrize("rules", [RULES, TOGGLE])
def test_a_button_held_in_silence_for_a_minute_causes_no_question(rules: DialogPolicy) -> None:
    talk = Talk(mode="push_to_talk", rules=rules)
    talk(DOWN, Onset(1, talk.index, speaking=False), SpeechStarted(1, 1, 0))
    for _ in range(60):
        talk(Tick(), after_s=1.0)
        assert listening(talk).held
        assert talk.it.state == "listening"
    talk(DOWN if rules.toggle else UP)
    talk(SpeechEnded(1, 0, 20 * 16_000, last=True))
    assert len(talk.sent(Think, ever=True)) == 1


def test_speech_recorded_with_a_stuck_button_becomes_a_question() -> None:
    talk = Talk(mode="push_to_talk")
    talk(DOWN, Onset(1, talk.index, speaking=False), SpeechStarted(1, 1, 0))
    seconds = 0
    while listening(talk).held:
        talk(Tick(), after_s=1.0)
        seconds += 1
    assert seconds == round(RULES.button_s)
    talk(SpeechEnded(1, 0, 20 * 16_000, last=True), after_s=0.05)
    assert len(talk.sent(Think, ever=True)) == 1


def test_a_stuck_button_is_treated_as_released() -> None:
    talk = Talk(mode="push_to_talk")
    talk(DOWN, SpeechStarted(1, 1, 0))
    for n in range(1, 6):
        talk(SpeechEnded(1, 0, n * 448_000, last=False), Tick(), after_s=28.0)
    assert not talk.it.listening.button_down
    talk.wait(RULES.ended_s + 0.5)
    assert talk.state == "idle"


@pytest.mark.parametrize("mode", ["open", "wake_word"])
def test_in_other_modes_a_press_opens_the_floor_for_one_turn(mode: ModeName) -> None:
    talk = Talk(mode=mode)
    talk(DOWN, UP)
    assert (talk.state, listening(talk).on, listening(talk).held) == ("listening", True, False)
    says(talk, 1)
    assert talk.state == "thinking"
    talk = Talk(mode=mode)
    talk(DOWN, UP)
    talk.wait(RULES.open_s + 1)
    assert talk.state == "idle"


def test_a_press_while_the_owner_speaks_discards_nothing() -> None:
    talk = talk_in("listening")
    before = talk.it
    assert talk(DOWN) == [AcknowledgePress()]
    assert talk.it == before


def test_a_remote_command_opens_the_floor_without_a_button() -> None:
    talk = Talk(mode="push_to_talk")
    talk(ListenOnce())
    assert (talk.state, listening(talk).on, listening(talk).held) == ("listening", True, False)
    says(talk, 1)
    assert talk.state == "thinking"


def test_a_press_without_a_message_is_acknowledged_and_logged() -> None:
    talk = talk_in("speaking")
    talk(Tick(pressed=True))
    assert talk.done(AcknowledgePress) == []
    talk(Tick(pressed=True), after_s=RULES.press_s + 0.01)
    assert talk.done(AcknowledgePress) == [AcknowledgePress()]
    assert talk.done(LogNote)
    assert talk.it.listening.press_until_s == NEVER


@pytest.mark.parametrize("message", [StopSpeaking(), Mute(on=True), Mute(on=False), DOWN, UP])
@pytest.mark.parametrize("state", ["idle", "thinking", "speaking", "holding", "muted", "failed"])
def test_every_button_message_acknowledges_the_press(
    state: str, message: StopSpeaking | Mute | Button
) -> None:
    talk = talk_in(state)
    talk(message)
    assert isinstance(talk.said[-1], AcknowledgePress) or talk.done(AcknowledgePress)


# ── the wake word ────────────────────────────────────────────────────────────────────────────
def test_the_wake_word_opens_the_floor_from_where_it_ended() -> None:
    talk = Talk(mode="wake_word")
    talk(WakeWordHeard(1_000_000, "okay nabu"))
    assert talk.state == "listening"
    assert (listening(talk).on, listening(talk).since) == (True, 1_000_000)
    says(talk, 1)
    assert talk.state == "thinking"
    assert (listening(talk).on, listening(talk).since) == (True, 0)


def test_after_an_answer_no_wake_word_is_needed_for_a_while() -> None:
    talk = Talk(mode="wake_word")
    talk(WakeWordHeard(1_000_000, "okay nabu"))
    says(talk, 1)
    talk.answer("The moon is grey.")
    talk.finish()
    assert (talk.state, listening(talk).on) == ("idle", True)
    talk.wait(RULES.follow_s + 0.5)
    assert (talk.state, listening(talk).on) == ("idle", False)


def test_a_wake_word_without_speech_requires_another_wake_word() -> None:
    talk = Talk(mode="wake_word")
    talk(WakeWordHeard(1_000_000, "okay nabu"))
    talk.wait(RULES.open_s + 0.5)
    assert (talk.state, listening(talk).on) == ("idle", False)


def test_the_wake_word_interrupts_an_answer_without_waiting_for_a_verdict() -> None:
    talk = Talk(mode="wake_word", rules=replace(RULES, by_voice=frozenset()))
    talk(WakeWordHeard(1_000_000, "okay nabu"))
    says(talk, 1)
    turn = talk.answer(*MOON)
    talk(WakeWordHeard(2_000_000, "okay nabu"), after_s=2.0)
    assert talk.sent(Abandon) == [Abandon(turn)]
    assert (talk.state, listening(talk).since) == ("listening", 2_000_000)


@pytest.mark.parametrize("mode", ["open", "push_to_talk"])
def test_in_other_modes_the_wake_word_is_an_ordinary_word(mode: ModeName) -> None:
    talk = Talk(mode=mode)
    assert talk(WakeWordHeard(1_000_000, "okay nabu")) == []
    assert talk.state == "idle"


# ── recognised words ─────────────────────────────────────────────────────────────────────────
STOP = WordsHeard(2, 300, "stop", "stop")


def test_recognised_words_are_forwarded_to_the_listener() -> None:
    talk = talk_in("holding")
    words = WordsHeard(2, 200, "mm-hm", "carry_on")
    assert talk(words)
    assert talk.sent(WordsHeard) == [words]
    assert talk.state == "holding"


def test_a_mere_stop_ends_the_answer_at_once_and_is_not_a_question() -> None:
    talk = talk_in("holding")
    talk(PlaybackPaused(2, 2, 3 * 16_000, 0), STOP)
    assert talk.state == "listening"
    assert talk.sent(Abandon) == [Abandon(2)]
    talk(Verdict(2, "interruption", 320), SpeechStarted(2, 2, 0), PlaybackStopped(2, 3 * 16_000, 0))
    talk(SpeechEnded(2, 0, 9000, last=True), after_s=0.7)
    assert talk.state == "idle"
    assert talk.sent(Think, ever=True) == [Think(2, (1,))]
    assert talk.remembered() == [("The moon is grey. It has", False)]


def test_a_stop_followed_by_more_words_is_a_question() -> None:
    talk = talk_in("holding")
    talk(
        STOP, Verdict(2, "interruption", 320), SpeechStarted(2, 2, 0), PlaybackStopped(2, 48_000, 0)
    )
    talk(WordsHeard(2, 900, "stop tell me about the sea", "other"), after_s=0.6)
    talk(SpeechEnded(2, 0, 30_000, last=True), after_s=1.0)
    assert talk.sent(Think) == [Think(4, (2,))]


def test_a_long_utterance_with_only_a_stop_recognised_is_a_question() -> None:
    """A keyword spotter recognises only "stop" in "stop, tell me about the sea"."""
    talk = talk_in("holding")
    talk(
        STOP, Verdict(2, "interruption", 320), SpeechStarted(2, 2, 0), PlaybackStopped(2, 48_000, 0)
    )
    frames = round((RULES.stop_s + 0.1) * 16_000)
    talk(SpeechEnded(2, 0, frames, last=True), after_s=1.5)
    assert talk.sent(Think) == [Think(4, (2,))]
    talk(STOP)
    assert talk.state == "thinking"


@pytest.mark.parametrize("kind", ["backchannel", "noise"])
def test_a_stop_judged_as_noise_or_backchannel_still_ends_the_answer(kind: str) -> None:
    talk = talk_in("holding")
    talk(STOP, Verdict(2, kind, 320))  # type: ignore[arg-type]  # a Literal
    assert talk.state == "idle"
    assert talk.it.answer is None


def test_a_stop_without_a_message_of_the_listener_ends_too() -> None:
    talk = talk_in("holding")
    talk(STOP)
    talk.wait(RULES.speech_s + 0.5)
    assert talk.state == "idle"


def test_never_mind_while_the_box_thinks_ends_the_thought_and_the_question() -> None:
    talk = Talk()
    talk.speech(1)
    talk(Onset(2, 0, speaking=False), SpeechStarted(2, 2, 0))
    talk(WordsHeard(2, 600, "never mind", "stop"), SpeechEnded(2, 0, 12_000, last=True))
    assert talk.state == "idle"
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, "", complete=False)]  # not asked again
    assert len(talk.sent(Think, ever=True)) == 1


def test_a_stop_recognised_late_ends_the_answer_that_it_was_said_to() -> None:
    talk = talk_in("holding")
    talk(Verdict(2, "interruption", 300), SpeechStarted(2, 2, 0), PlaybackStopped(2, 48_000, 0))
    talk(SpeechEnded(2, 0, 9000, last=True))
    assert talk.sent(Think)
    talk(STOP)
    assert (talk.state, talk.it.answer) == ("idle", None)


def test_a_stop_while_nothing_plays_is_not_a_question() -> None:
    talk = Talk()
    talk(Onset(1, 0, speaking=False), WordsHeard(1, 300, "stop", "stop"))
    talk(SpeechStarted(1, 1, 0), SpeechEnded(1, 0, 9000, last=True))
    assert (talk.state, talk.sent(Think, ever=True)) == ("idle", [])


def test_words_of_another_utterance_change_nothing() -> None:
    talk = talk_in("speaking")
    talk(WordsHeard(77, 300, "stop", "stop"))
    assert talk.state == "speaking"
