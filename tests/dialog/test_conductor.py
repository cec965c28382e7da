"""The conductor as a process, with real channels, floor and disk; the test plays the parts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.dialog.memory import Memory
from appliance.messages.commands import (
    Ask,
    BoxStatus,
    Forget,
    Mute,
    Say,
    SetMode,
    SetVolume,
    StatusWanted,
    StopSpeaking,
    TalkButton,
    VoicesAvailable,
)
from appliance.messages.hearing import (
    Onset,
    Opinion,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WordsHeard,
)
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackStopped,
)
from appliance.messages.registry import Message, ObservedMessage
from appliance.messages.speech import EndAnswer, Speak, SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    Abandon,
    AnswerHeard,
    Recall,
    RecallWanted,
    Think,
    ThinkerReady,
)
from appliance.runtime import memory_files
from appliance.settings import load
from tests.dialog.conductor_box import Box, settings_in

pytestmark = pytest.mark.process


def test_a_conversation_goes_through_the_process(box: Box) -> None:
    box.floor.hold = 1
    box.say("listener", Onset(1, 0, speaking=False), SpeechStarted(1, 1, 0))
    box.state("listening")
    box.say("listener", SpeechEnded(1, 0, 16_000, last=True))
    turn = box.get("thinker", Think).turn
    assert box.state("thinking").turn == turn
    box.until(lambda: not box.floor.held and box.floor.turn == turn)
    box.answer("The moon is grey.", "It has no air.")
    # mm-hm
    box.floor.hold = 2
    box.say("listener", Onset(2, 0, speaking=True))
    box.state("holding")
    assert box.floor.held
    box.say("listener", Verdict(2, "backchannel", 300))
    box.state("speaking")
    box.until(lambda: not box.floor.held)
    # wait
    box.floor.hold = 3
    box.say("listener", Onset(3, 0, speaking=True))
    box.state("holding")
    box.say("playback", PlaybackPaused(turn, 3, 24_100, 0))
    box.say("listener", Verdict(3, "interruption", 300), SpeechStarted(3, 3, 0))
    assert box.get("thinker", Abandon) == Abandon(turn)
    box.state("listening")
    assert box.floor.turn > turn
    box.say("playback", PlaybackStopped(turn, 24_100, 0))
    assert box.get("thinker", AnswerHeard) == AnswerHeard(
        turn, "The moon is grey. It has", complete=False
    )
    box.say("listener", SpeechEnded(3, 0, 16_000, last=True))
    turn = box.get("thinker", Think).turn
    box.answer("The sea is wet.")
    box.say("playback", PlaybackFinished(turn, 16_000, 0))
    assert box.get("thinker", AnswerHeard) == AnswerHeard(turn, "The sea is wet.", complete=True)
    assert box.state("idle").reason == "finished"
    # a restarted thinker
    box.say("thinker", RecallWanted())
    recalled = (("", "", "The moon is grey. It has"), ("", "", "The sea is wet."))
    assert box.get("thinker", Recall).turns == recalled


def test_watchers_receive_a_copy_of_every_message(box: Box) -> None:
    opinion = Opinion(1, 100, 0.2, 0.3, 0.5)
    box.say("listener", opinion)
    box.say("room", SetVolume(0.3))
    assert box.get("playback", SetVolume) == SetVolume(0.3)
    awaited: set[tuple[str, str, Message]] = {
        ("listener", "conductor", opinion),
        ("room", "conductor", SetVolume(0.3)),
        ("conductor", "playback", SetVolume(0.3)),
    }
    while awaited:
        copy = box.get("room", ObservedMessage)
        awaited.discard((copy.source, copy.target, copy.message))


def test_muting_is_written_to_the_floor_at_once(box: Box) -> None:
    box.say("room", Mute(on=True))
    box.state("muted")
    assert box.floor.muted
    box.say("room", Mute(on=False))
    box.state("idle")
    assert not box.floor.muted


def test_an_optional_part_is_shown_as_failed_until_it_is_up(box: Box) -> None:
    box.say("supervisor", PartChanged("thinker", "failed", "exited with code 3"))
    while (status := box.get("link", BoxStatus)).broken != ("thinker",):
        pass
    assert not status.starting
    box.say("supervisor", PartChanged("thinker", "up"))
    assert box.get("link", BoxStatus).broken == ()


def test_a_press_is_acknowledged_once_its_message_has_ended_the_answer(box: Box) -> None:
    box.question()
    turn = box.answer("The moon is grey.")
    assert box.get("listener", SetListening).over_box
    box.say("room", SetMode("push_to_talk"))
    assert not box.get("listener", SetListening).over_box
    box.floor.press += 1
    box.say("room", TalkButton(pressed=True))
    box.until(lambda: not box.floor.pressed)
    assert box.floor.turn > turn
    assert box.get("listener", SetListening).held
    box.say("room", TalkButton(pressed=False))
    assert not box.get("listener", SetListening).held


def test_a_press_without_a_message_is_acknowledged_and_the_answer_continues(box: Box) -> None:
    box.question()
    turn = box.answer("The moon is grey.")
    box.floor.press += 1
    box.until(lambda: not box.floor.pressed)
    assert box.floor.turn == turn


def test_a_mere_stop_never_reaches_the_thinker(box: Box) -> None:
    box.question(1)
    turn = box.answer("The moon is grey.")
    box.floor.hold = 2
    box.say("listener", Onset(2, 0, speaking=True))
    box.state("holding")
    stop = WordsHeard(2, 300, "stop", "stop")
    box.say("room", stop)
    assert box.get("listener", WordsHeard) == stop
    assert box.get("thinker", Abandon) == Abandon(turn)
    box.say("listener", Verdict(2, "interruption", 320), SpeechStarted(2, 2, 0))
    box.say("listener", SpeechEnded(2, 0, 9000, last=True))
    box.state("idle")
    box.say("room", Ask("and now?"))
    assert box.get("thinker", Think).text == "and now?"  # the first question after the stop


def test_an_undecodable_message_is_skipped(box: Box) -> None:
    channel = box.supervisor.channel("listener")
    os.write(channel.fileno(), b"\xff\x00 nonsense")
    box.say("room", Say("Tea."))
    assert box.get("speaker", Speak).text == "Tea."


def test_a_hold_without_a_message_is_released(box: Box) -> None:
    box.floor.hold = 9
    box.until(lambda: not box.floor.held)


def test_a_conductor_crash_during_an_answer_frees_the_floor_and_the_conversation_continues(
    box: Box,
) -> None:
    box.question(1)
    turn = box.answer("The moon is grey.")
    box.floor.hold = 2  # the owner is speaking
    box.kill()
    box.say("listener", SpeechEnded(2, 0, 16_000, last=True))  # without a conductor
    assert box.get("thinker", Abandon) == Abandon(turn)
    asked = box.get("thinker", Think)
    assert asked.utterances == (2,)
    assert asked.turn > turn
    box.answer("The sea is wet.")
    box.say("playback", PlaybackFinished(asked.turn, 16_000, 0))
    assert box.get("thinker", AnswerHeard) == AnswerHeard(
        asked.turn, "The sea is wet.", complete=True
    )


def test_a_restarted_conductor_asks_again_for_what_is_sent_once_and_publishes_it(box: Box) -> None:
    box.kill()
    box.drop_mail()
    for part in ("capture", "playback", "thinker", "speaker", "link"):
        assert box.get(part, StatusWanted) == StatusWanted()
    box.say("thinker", ThinkerReady("gemma"))
    box.say("speaker", SpeakerReady("hibari"), VoicesAvailable(("hibari", "espeak")))
    while (status := box.get("link", BoxStatus)).voices != ("hibari", "espeak"):
        continue
    assert (status.model, status.voice) == ("gemma", "hibari")
    box.say("room", Say("Dinner is ready."))
    assert box.get("speaker", Speak).text == "Dinner is ready."  # no second start-up announcement


def test_what_was_heard_is_on_disk_after_an_orderly_stop(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    box = Box(settings)
    box.load_model()
    box.say("room", Ask("what is the moon?"))
    turn = box.get("thinker", Think).turn
    box.answer("The moon is grey.")
    box.say("playback", PlaybackFinished(turn, 16_000, 0))
    box.state("idle")
    box.supervisor.stop_all()
    box.supervisor.close()
    (kept,) = Memory(memory_files.path(settings), 10).recall(10)
    assert (kept.asked, kept.heard, kept.complete, kept.model) == (
        "what is the moon?", "The moon is grey.", True, "pocket",
    )  # fmt: skip
    assert kept.started[4] == "-"
    assert "T" in kept.started


def test_forgetting_reaches_the_thinker_and_the_disk(box: Box) -> None:
    turn = box.question()
    box.answer("a-secret-word")
    box.say("playback", PlaybackFinished(turn, 16_000, 0))
    box.state("idle")
    box.say("room", Forget())
    assert box.get("thinker", Forget) == Forget()
    folder = memory_files.path(box.settings).parent
    box.until(lambda: not list(folder.iterdir()))


def test_a_damaged_memory_is_announced_aloud(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    file = memory_files.path(settings)
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    box = Box(settings)
    assert "memory" in box.get("speaker", Speak).text
    box.say("room", StopSpeaking())
    box.state("idle")
    box.supervisor.stop_all()
    box.supervisor.close()


def test_the_first_voice_is_preceded_by_a_chime_and_no_later_one(box: Box) -> None:
    box.say("speaker", SpeakerReady("espeak"))
    assert box.get("speaker", Speak).chime
    turn = box.get("speaker", EndAnswer).turn
    box.say("speaker", SpeakerReady("espeak"))
    box.say("playback", PlaybackFinished(turn, 0, 0))
    box.state("idle")
    box.say("room", Say("Dinner is ready."))
    assert box.get("speaker", Speak).text == "Dinner is ready."


def test_a_box_configured_for_a_silent_start_plays_no_chime(tmp_path: Path) -> None:
    empty = tmp_path / "settings.yaml"
    empty.write_text("")
    box = Box(load(empty, {"state_dir": str(tmp_path), "speaking": {"chime": False}}))
    try:
        box.say("speaker", SpeakerReady("espeak"))
        box.say("room", Say("Dinner is ready."))
        assert box.get("speaker", Speak).text == "Dinner is ready."
    finally:
        box.supervisor.stop_all()
        box.supervisor.close()
