"""Processes and sound cards fail and recover."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from appliance.dialog.actions import AnnounceState, ReleaseHold, SendMessage, SendRecall
from appliance.dialog.timeouts import dialog_policy
from appliance.language.catalogue import catalogue, english, languages
from appliance.messages.commands import Ask, SetVolume, TalkButton
from appliance.messages.hearing import Onset, SetListening, SpeechEnded, SpeechStarted
from appliance.messages.playback import CardLost, PlaybackFinished, PlaybackStarted
from appliance.messages.speech import EndAnswer, Speak, SpeakerReady, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    AnswerHeard,
    RecallWanted,
    Sentence,
    Think,
    ThinkerReady,
    ThoughtEnded,
)
from appliance.runtime.process_table import PROCESSES
from appliance.settings import load_defaults
from tests.dialog.talk import MOON, RULES, Talk, talk_in

LOST_VOICE = english().say("lost-voice")
NOT_READY = english().say("not-ready")


# ── processes ────────────────────────────────────────────────────────────────────────────────
def test_a_box_whose_thinker_is_not_ready_says_so() -> None:
    talk = Talk(ready=False)
    talk.speech()
    assert (talk.sent(Think), talk.sent(Speak)[0].text) == ([], NOT_READY)


def test_the_box_apologises_for_a_thinker_that_crashes_while_it_thinks() -> None:
    talk = talk_in("thinking")
    talk(PartChanged("thinker", "down", "was ended by SIGKILL"))
    assert talk.sent(Speak) == [Speak(2, 0, NOT_READY)]
    talk(Spoken(2, 0, 0, 16_000, 1.0), PlaybackStarted(2, 0), PlaybackFinished(2, 16_000, 0))
    assert (talk.state, talk.remembered()) == ("idle", [])


def test_sentences_of_a_crashed_thinker_are_still_spoken() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), Spoken(2, 0, 0, 16_000, 1.0), PlaybackStarted(2, 0))
    talk(PartChanged("thinker", "down"))
    assert talk.sent(EndAnswer) == [EndAnswer(2)]
    talk.finish()
    assert talk.remembered() == [(MOON[0], False)]


def test_a_restarted_thinker_receives_the_last_turns() -> None:
    talk = talk_in("idle")
    talk(PartChanged("thinker", "down"))
    assert talk(RecallWanted()) == [SendRecall()]
    talk(ThinkerReady("pocket"))
    talk.speech()
    assert len(talk.sent(Think)) == 1


def test_the_owner_is_asked_to_wait_until_the_thinker_has_prefilled_its_prompt() -> None:
    talk = Talk(ready=False)
    talk(RecallWanted())
    talk.speech()
    assert (talk.sent(Think), talk.sent(Speak)[0].text) == ([], NOT_READY)


def test_a_listener_crash_releases_the_hold() -> None:
    talk = talk_in("holding")
    assert talk(PartChanged("listener", "down")) == [
        ReleaseHold(2),
        AnnounceState("speaking", 2, "the listener is gone"),
    ]


@pytest.mark.parametrize("state", ["down", "failed"])
def test_a_question_is_answered_when_the_panel_dies_with_the_button_held(
    state: Literal["down", "failed"],
) -> None:
    talk = Talk(mode="push_to_talk")
    talk(TalkButton(pressed=True), Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    talk(PartChanged("panel", state), after_s=1.0)
    assert [sent.held for sent in talk.sent(SetListening)] == [False]
    assert talk.state == "listening"
    talk(SpeechEnded(1, 0, 16_000, last=True), after_s=0.1)
    assert (talk.state, len(talk.sent(Think))) == ("thinking", 1)


def test_in_toggle_mode_a_panel_crash_leaves_the_floor_open_until_the_next_press() -> None:
    talk = Talk(mode="push_to_talk", rules=replace(RULES, toggle=True))
    talk(TalkButton(pressed=True), Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    talk(PartChanged("panel", "down"), after_s=1.0)
    assert talk.sent(SetListening) == []
    assert talk.it.listening.button_down
    talk(TalkButton(pressed=True), after_s=1.0)
    assert [sent.held for sent in talk.sent(SetListening)] == [False]


@pytest.mark.parametrize("state", ["idle", "listening", "thinking", "speaking"])
def test_a_panel_crash_with_the_button_up_changes_nothing(state: str) -> None:
    talk = talk_in(state)
    assert talk(PartChanged("panel", "down")) == []


def test_a_restarted_speaker_is_told_again_that_the_answer_has_ended() -> None:
    talk = talk_in("speaking")
    talk(PartChanged("speaker", "down"), SpeakerReady("espeak"))
    assert talk.sent(EndAnswer) == [EndAnswer(2)]


def test_the_box_apologises_for_an_answer_that_was_lost_with_the_speaker() -> None:
    talk = talk_in("thinking")
    talk(Sentence(2, 0, MOON[0]), ThoughtEnded(2, 1, "complete"))
    talk(PartChanged("speaker", "down"), SpeakerReady("espeak"), PlaybackFinished(2, 0, 0))
    assert talk.sent(Speak) == [Speak(3, 0, LOST_VOICE)]
    assert talk.remembered() == []


def test_sentences_lost_with_the_speaker_do_not_count_as_heard() -> None:
    talk = talk_in("thinking")
    for number, text in enumerate(MOON):
        talk(Sentence(2, number, text))
    talk(ThoughtEnded(2, len(MOON), "complete"), Spoken(2, 0, 0, 16_000, 5.0))
    talk(PlaybackStarted(2, 0), PartChanged("speaker", "down"), SpeakerReady("espeak"))
    talk(PlaybackFinished(2, 16_000, 0), after_s=1.0)
    assert talk.sent(AnswerHeard) == [AnswerHeard(2, MOON[0], complete=False)]


def test_a_restarted_playback_continues_the_answer() -> None:
    talk = talk_in("speaking")
    talk(PartChanged("playback", "down"), after_s=3.0)
    talk(PlaybackStarted(2, 0), after_s=2.0)
    assert talk.it.answer is not None
    assert talk.it.answer.position_at(talk.now_s) == 3 * 16_000
    talk.finish()
    assert talk.remembered() == [(" ".join(MOON), True)]


def test_a_broken_microphone_is_announced_once_and_shown_until_it_works_again() -> None:
    talk = Talk()
    talk(PartChanged("listener", "failed"))
    assert "listener" in talk.sent(Speak)[0].text
    talk.wait(10 * RULES.failed_s)
    assert (talk.state, talk.sent(Speak)) == ("failed", [])
    talk(PartChanged("listener", "up"))
    assert talk.state == "idle"


def test_a_broken_loudspeaker_is_shown_and_not_announced() -> None:
    talk = talk_in("idle")
    talk(PartChanged("playback", "failed"))
    assert (talk.state, talk.sent(Speak)) == ("failed", [])


def test_without_a_microphone_typed_questions_are_answered() -> None:
    talk = Talk()
    talk(CardLost("capture", "unplugged"), PlaybackFinished(2, 0, 0))
    talk(Ask("hello?"))
    assert talk.state == "thinking"
    talk.answer("Hello.")
    talk.finish()
    assert talk.state == "failed"


def test_a_restarted_playback_keeps_the_volume() -> None:
    talk = Talk()
    assert talk(PartChanged("playback", "up")) == []
    talk(SetVolume(0.3))
    assert talk(PartChanged("playback", "up")) == [SendMessage("playback", SetVolume(0.3))]
    assert talk(PartChanged("speaker", "up")) == []


# ── every row of the process table ───────────────────────────────────────────────────────────
@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("part", [row.name for row in PROCESSES])
def test_the_failure_and_the_return_of_any_part_are_handled_in_every_language(
    part: str, language: str
) -> None:
    talk = Talk(rules=dialog_policy(load_defaults()), language=language)
    talk(PartChanged(part, "failed", "exited with code 3"))
    names = catalogue(language).messages  # its own, not those of English
    announced = [speak.text for speak in talk.sent(Speak)]
    if part in talk.it.parts.broken and not talk.it.parts.voiceless:
        name = " ".join(map(str, names[f"part-{part}"]))
        assert announced == [catalogue(language).say("part-broken", part=name)]
    talk(PartChanged(part, "down"), PartChanged(part, "up"))
    assert part not in talk.it.parts.broken
