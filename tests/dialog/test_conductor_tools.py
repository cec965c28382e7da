"""Tools in the conductor process, with real channels and disk; the test plays the parts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from appliance.background_file import write_private
from appliance.language.catalogue import english
from appliance.messages.commands import Ask, Forget, Say, SetVolume, StopSpeaking
from appliance.messages.playback import PlaybackFinished, PlaybackStarted
from appliance.messages.speech import EndAnswer, Speak, SpeakerReady, Spoken
from appliance.messages.thinking import AnswerHeard, Think, ThoughtEnded
from appliance.messages.tools import ToolAnswered, ToolCalled
from appliance.runtime import factory_reset, memory_files
from appliance.tools import timer_store
from tests import skips
from tests.dialog.conductor_box import Box, settings_in

FORGOTTEN_ALL = english().say("forgotten-all")
NOT_FORGOTTEN = english().say("forget-failed")
ASK_AGAIN = english().say("forget-all-again")

pytestmark = pytest.mark.process


def use(box: Box, tool: str, /, **arguments: str | float) -> int:
    """Ask a question that the model answers with a tool call. Returns the turn."""
    box.say("room", Ask("do it"))
    turn = box.get("thinker", Think).turn
    box.say(
        "thinker", ToolCalled(turn, 0, tool, dict(arguments)), ThoughtEnded(turn, 0, "complete")
    )
    return turn


def play_lines(box: Box, turn: int, *lines: str) -> None:
    """Expect these lines at the speaker and play them to their end."""
    for number, text in enumerate(lines):
        assert box.get("speaker", Speak).text == text
        box.say("speaker", Spoken(turn, number, 16_000 * number, 16_000, 5.0))
    box.get("speaker", EndAnswer)
    box.say("playback", PlaybackStarted(turn, 0))
    box.state("speaking")
    box.say("playback", PlaybackFinished(turn, 16_000 * len(lines), 0))
    box.state("idle")


def next_ring(box: Box) -> Speak:
    while not (speak := box.get("speaker", Speak)).ring:
        continue
    return speak


def test_a_tool_answers_without_the_model_and_the_thinker_receives_its_words(box: Box) -> None:
    turn = use(box, "timer", minutes=5)
    assert box.get("thinker", ToolAnswered) == ToolAnswered(turn, 0, "Five minutes, from now.")
    play_lines(box, turn, "Five minutes, from now.")
    assert box.get("thinker", AnswerHeard) == AnswerHeard(
        turn, "Five minutes, from now.", complete=True
    )


def test_the_volume_is_changed_before_it_is_confirmed_aloud(box: Box) -> None:
    turn = use(box, "volume", change="up")
    assert box.get("playback", SetVolume) == SetVolume(0.95)
    play_lines(box, turn, "Louder.")


def test_the_last_answer_is_repeated_on_request(box: Box) -> None:
    turn = box.question()
    box.answer("The moon is grey.", "It has no air.")
    box.say("playback", PlaybackFinished(turn, 32_000, 0))
    box.state("idle")
    play_lines(box, use(box, "repeat"), "The moon is grey.", "It has no air.")


def test_only_the_last_turn_is_forgotten_by_thinker_and_disk(box: Box) -> None:
    tell(box, "a-first-word", "a-second-word")
    use(box, "forget")
    assert box.get("thinker", Forget) == Forget(last=True)
    assert box.get("speaker", Speak).text == "I have forgotten that."
    assert not on_disk(box, b"a-second-word"), "confirmed only after the erasure"
    assert on_disk(box, b"a-first-word")


def test_everything_is_erased_from_the_disk_before_it_is_confirmed_aloud(box: Box) -> None:
    tell(box, "a-first-word", "a-second-word")
    use(box, "forget", what="everything")
    assert box.get("speaker", Speak).text == ASK_AGAIN
    box.say("room", StopSpeaking())
    box.state("idle")
    use(box, "forget", what="everything")
    assert box.get("thinker", Forget) == Forget()
    assert box.get("speaker", Speak).text == FORGOTTEN_ALL
    assert not on_disk(box, b"word")


@pytest.mark.parametrize("last", [True, False])
def test_a_failed_erasure_is_announced_aloud_for_every_way_of_asking(box: Box, last: bool) -> None:
    tell(box, "a-secret-word")
    folder = memory_files.path(box.settings).parent
    bind = ["mount", "--bind", "-o", "ro", str(folder), str(folder)]
    if subprocess.run(bind, check=False, capture_output=True).returncode != 0:
        pytest.skip(skips.MOUNTS)
    try:
        box.say("room", Forget(last, aloud=last))
        assert box.get("thinker", Forget) == Forget(last)
        assert box.get("speaker", Speak).text == NOT_FORGOTTEN
        assert on_disk(box, b"a-secret-word")
        box.load_model()  # a restarted thinker receives none of it
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize(
    ("noted", "said"),
    [
        (factory_reset.DONE, english().say("reset-done")),
        ("enrolled: worn out", english().say("reset-incomplete")),
    ],
)
def test_the_result_of_a_reset_is_announced_at_the_next_start(
    tmp_path: Path, noted: str, said: str
) -> None:
    write_private(tmp_path / factory_reset.NOTE, noted.encode())
    box = Box(settings_in(tmp_path))
    assert box.get("speaker", Speak).text == said
    box.supervisor.stop_all()
    box.supervisor.close()


def tell(box: Box, *answers: str) -> None:
    """Hold a conversation of these turns."""
    for words in answers:
        turn = box.question()
        box.answer(words)
        box.say("playback", PlaybackFinished(turn, 16_000, 0))
        box.state("idle")


def on_disk(box: Box, word: bytes) -> bool:
    folder = memory_files.path(box.settings).parent
    return any(word in file.read_bytes() for file in folder.iterdir())


def test_a_timer_rings_until_it_is_stopped_even_across_a_conductor_crash(box: Box) -> None:
    turn = use(box, "timer", minutes=1 / 60, name="eggs")
    play_lines(box, turn, "Eggs: one second, from now.")
    assert next_ring(box).text == "Your timer is done: eggs."
    file = timer_store.path(box.settings)
    box.until(file.exists)
    box.kill()
    assert next_ring(box).text == "Your timer is done: eggs."
    box.say("room", StopSpeaking())
    box.state("idle")
    box.until(lambda: b"eggs" not in file.read_bytes())
    box.say("room", Say("Tea."))
    assert box.get("speaker", Speak) == Speak(box.floor.turn, 0, "Tea.")


def test_a_timer_that_expired_while_the_box_was_off_is_announced_once_a_voice_is_up(
    tmp_path: Path,
) -> None:
    settings = settings_in(tmp_path)
    file = timer_store.path(settings)
    file.parent.mkdir(parents=True)
    file.write_text(
        '{"version":1,"boot":"another","timers":[{"number":1,"name":"eggs","length_s":300.0,'
        '"due_boot_s":5.0,"due_wall_s":1700000000.0,"set_boot_s":1.0}]}'
    )
    box = Box(settings)
    try:
        box.say("speaker", SpeakerReady("espeak"))
        while "eggs" not in (said := box.get("speaker", Speak)).text:
            box.say("playback", PlaybackFinished(said.turn, 0, 0))  # the start-up announcement
        assert said.text.startswith("While I was off, your timer, eggs, ran out at ")
    finally:
        box.supervisor.stop_all()
        box.supervisor.close()
    assert "eggs" not in file.read_text()


def test_a_plain_request_is_answered_before_the_model_is_loaded(tmp_path: Path) -> None:
    box = Box(settings_in(tmp_path))
    try:
        box.say("room", Ask("What time is it?"))
        assert box.get("speaker", Speak).text.startswith("It is ")
        box.get("speaker", EndAnswer)
    finally:
        box.supervisor.stop_all()
        box.supervisor.close()
