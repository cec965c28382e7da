"""The thinker as a process: sound from the ring and messages in, sentences out."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.messages.commands import Forget, StatusWanted
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    Abandon,
    AnswerHeard,
    Recall,
    RecallWanted,
    Sentence,
    ThinkerReady,
    ThoughtEnded,
)
from appliance.models import catalogue
from appliance.runtime.ipc.floor import NO_READ_AHEAD
from appliance.think import encoder_files
from appliance.think.prompt_state_cache import FOLDER
from appliance.think.utterance_buffer import CLIP_FRAMES, KEEP_FRAMES
from tests.think.rig import OWN, Rig

pytestmark = pytest.mark.process
LONG = 4000  # tokens; the tiny model never ends by itself, so an answer of seconds
PLAIN: dict[str, Any] = {
    "model": OWN,
    "threads": 1,
    "temperature": 0,
    "answer_tokens": 40,
}


def noise(seconds: float, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(0, 3000, int(16_000 * seconds)).astype(np.int16)


@pytest.fixture(scope="module")
def used_box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state folder of a box that has started before: its first thinker, of the first test that
    runs, converts the encoder and saves the state of the opening, and the others load both."""
    return tmp_path_factory.mktemp("box")


@pytest.fixture(scope="module")
def shared(used_box: Path, tiny_files: tuple[Path, Path]) -> Iterator[Rig]:
    with Rig(used_box, tiny_files, **PLAIN) as running:
        running.wait_ready()
        yield running


@pytest.fixture
def rig(shared: Rig) -> Iterator[Rig]:
    """The same thinker for most tests, whose turns go on counting; each begins a conversation."""
    yield shared
    shared.mail.send(Forget())
    shared.turn += 100
    shared.messages.clear()


@pytest.fixture(scope="module")
def long_winded(used_box: Path, tiny_files: tuple[Path, Path]) -> Iterator[Rig]:
    with Rig(used_box, tiny_files, **{**PLAIN, "answer_tokens": LONG}) as running:
        running.wait_ready()
        yield running


def test_speech_in_the_ring_comes_out_as_sentences(rig: Rig) -> None:
    turn = rig.turn
    rig.say(turn + 2, noise(2))
    rig.think(turn, turn + 2)
    end = rig.end_of(turn)
    assert (end.reason, end.tokens) == ("limit", 40)
    assert end.sentences == len(rig.told(Sentence, turn)) > 0
    assert rig.text_of(turn)
    assert end.encode_ms > 0
    assert end.prefill_ms > 0
    assert end.first_sentence_ms > 0
    assert end.tokens_per_s > 0


def test_a_status_request_is_answered_with_the_model(rig: Rig) -> None:
    rig.messages.clear()
    rig.mail.send(StatusWanted())
    rig.until(lambda: rig.told(ThinkerReady))
    assert rig.told(ThinkerReady) == [ThinkerReady(OWN)]


LONG_AGO = (("what is the moon", "", "The moon is a big stone. " * 40),) * 3  # 1,800 tokens


def test_the_streaming_encoder_is_made_once(tmp_path: Path) -> None:
    times = []
    for _ in range(2):
        with Rig(tmp_path, threads=1) as rig:  # the pocket model
            rig.wait_ready()
        made = list((tmp_path / encoder_files.FOLDER).iterdir())
        assert {path.suffix for path in made} == {".onnx", ".data", ".json"}
        times.append({path.stat().st_mtime_ns for path in made})
    assert times[0] == times[1]


def test_llama_cpps_encoder_is_used_if_the_owner_chose_it(
    tmp_path: Path, tiny_files: tuple[Path, Path]
) -> None:
    with Rig(tmp_path, tiny_files, **PLAIN, audio_encoder="llama") as rig:
        rig.wait_ready()
        rig.say(1, noise(1))
        rig.think(1, 1)
        assert rig.end_of(1).reason == "limit"
    assert not list((tmp_path / encoder_files.FOLDER).iterdir())


def test_the_thinker_is_ready_once_persona_tools_and_memory_are_read(
    tmp_path: Path, tiny_files: tuple[Path, Path]
) -> None:
    with Rig(tmp_path, tiny_files, recalled=LONG_AGO, **PLAIN) as rig:
        rig.wait_ready()
        rig.think(1, text="hello")
        assert rig.end_of(1).read_tokens < 30  # the question and the marks around it


def test_a_question_before_the_thinker_is_ready_is_answered(
    tmp_path: Path, tiny_files: tuple[Path, Path]
) -> None:
    with Rig(tmp_path, tiny_files, recalled=LONG_AGO, **PLAIN) as rig:
        rig.until(lambda: rig.told(RecallWanted))
        rig.think(1, text="hello")
        assert rig.end_of(1).reason == "limit"
        rig.until(lambda: rig.told(ThinkerReady))


def test_a_conversation_of_speech_and_typed_words_is_answered(rig: Rig) -> None:
    rig.mail.send(Recall((("who are you", "", "I am a box."),)))
    for turn in range(rig.turn, rig.turn + 5):
        rig.say(turn, noise(1, turn))
        rig.think(turn, turn, text="tell me about the moon")
        assert rig.end_of(turn).reason == "limit"
        rig.mail.send(AnswerHeard(turn, rig.text_of(turn), turn % 2 == 0))
    rig.mail.send(Forget())
    rig.think(turn + 1, text="hello")
    assert rig.end_of(turn + 1).reason == "limit"


def test_an_utterance_that_never_arrived_is_reported_as_lost(rig: Rig) -> None:
    rig.think(rig.turn, rig.turn + 77)
    end = rig.end_of(rig.turn)
    assert end.reason == "failed"
    assert end.problem == "What the owner said was lost on its way. Ask again."


def test_silence_clipped_sound_and_a_single_sample_are_answered(rig: Rig) -> None:
    square = np.where(np.arange(16_000) % 100 < 50, 32767, -32768).astype(np.int16)
    for turn, samples in enumerate(
        [np.zeros(8000, np.int16), square, np.ones(1, np.int16)], start=rig.turn
    ):
        rig.say(turn, samples)
        rig.think(turn, turn)
        assert rig.end_of(turn).reason == "limit"


def test_a_monologue_longer_than_the_box_keeps_is_answered_by_its_end(rig: Rig) -> None:
    piece = noise(10)
    for _ in range((KEEP_FRAMES + 2 * CLIP_FRAMES) // len(piece)):
        rig.say(rig.turn, piece, end=False)
        rig.until(lambda: rig.heard._words[4] >= rig.heard._next - 500)  # as it is spoken
    rig.think(rig.turn, rig.turn)
    assert rig.end_of(rig.turn, within_s=60).reason == "limit"


def test_unexpected_messages_are_ignored(rig: Rig) -> None:
    rig.mail.send(ThinkerReady("you"))
    rig.mail._socket.send(b"nonsense")
    rig.think(rig.turn, text="hello")
    assert rig.end_of(rig.turn).reason == "limit"


def test_a_restarted_thinker_answers_and_does_not_read_persona_and_tools_again(
    rig: Rig, used_box: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rig.until(lambda: list((used_box / FOLDER).glob("*.state")))
    capfd.readouterr()
    os.kill(rig.pid, signal.SIGKILL)
    rig.say(rig.turn, noise(1))
    rig.messages.clear()
    rig.wait_ready()
    assert rig.told(ThinkerReady) == [ThinkerReady(OWN)]  # unasked, and once
    assert "loaded the opening" in capfd.readouterr().err
    rig.think(rig.turn, text="hello")
    assert rig.end_of(rig.turn).read_tokens < 30
    rig.think(rig.turn + 1, rig.turn)  # what was said while it started
    assert rig.end_of(rig.turn + 1).reason == "limit"


def test_a_question_is_prefilled_during_the_silence_after_it_unless_under_strain(
    used_box: Path,
    tiny_files: tuple[Path, Path],
) -> None:
    with Rig(used_box, tiny_files, **PLAIN) as rig:  # its supervisor has seen no strain yet
        rig.wait_ready()
        for turn in range(1, 21, 2):
            rig.until(lambda: not rig.floor.strain)
            rig.say(turn, noise(4), pause=True)
            rig.think(turn, turn)
            read_ahead = rig.end_of(turn)
            strained = rig.floor.strain  # under strain nothing is read ahead
            rig.mail.send(AnswerHeard(turn, "", False))
            rig.say(turn + 1, noise(4, seed=4))
            rig.think(turn + 1, turn + 1)
            read_after = rig.end_of(turn + 1)
            if not strained:
                break
        assert read_ahead.read_tokens <= 1  # the token from which the answer is drawn
        assert read_after.read_tokens > 1  # some of it may have been read while it arrived

        rig.supervisor._strain._raise(NO_READ_AHEAD, time.monotonic())
        rig.until(lambda: rig.floor.strain == NO_READ_AHEAD)
        rig.say(turn + 2, noise(4), pause=True)
        rig.think(turn + 2, turn + 2)
        assert rig.end_of(turn + 2).read_tokens > 1


@pytest.mark.parametrize("how", ["mail", "floor", "newer question"])
def test_an_abandoned_answer_ends_at_once(long_winded: Rig, how: str) -> None:
    rig = long_winded
    rig.turn += 10
    turn = rig.turn
    rig.think(turn, text="tell me about the moon")
    rig.until(lambda: rig.told(Sentence, turn))
    if how == "mail":
        rig.mail.send(Abandon(turn))
    elif how == "floor":
        rig.floor.turn = turn + 1
    else:
        rig.think(turn + 1, text="hello")
    end = rig.end_of(turn)
    assert (end.reason, end.tokens < LONG) == ("abandoned", True)
    if how == "newer question":
        rig.until(lambda: rig.told(Sentence, turn + 1))
        rig.mail.send(Abandon(turn + 1))  # or it goes on during the tests after this one
        rig.end_of(turn + 1)


def test_the_thinker_stops_in_the_middle_of_an_answer(
    used_box: Path, tiny_files: tuple[Path, Path]
) -> None:
    with Rig(used_box, tiny_files, **{**PLAIN, "answer_tokens": LONG}) as rig:
        rig.wait_ready()
        rig.think(1, text="hello")
        rig.until(lambda: rig.told(Sentence, 1))
        rig.supervisor.stop_all()
        rig.messages += rig.mail.receive_all()
        assert not [end for end in rig.told(ThoughtEnded, 1) if end.reason != "abandoned"]


def test_a_missing_model_ends_the_thinker_with_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with Rig(tmp_path, model="gemma-4-e2b") as rig:
        down: list[PartChanged] = []

        def gone() -> bool:
            down.extend(m for m in rig.reports.receive_all() if isinstance(m, PartChanged))
            return bool(down)

        rig.until(gone)
        assert "66" in down[0].problem  # EX_NOINPUT
    output = capfd.readouterr().err
    assert "The model gemma-4-e2b is not on this box." in output
    assert "interlude models fetch gemma-4-e2b" in output
    assert "Traceback" not in output


def test_an_unreachable_server_gives_a_failed_answer(tmp_path: Path) -> None:
    with Rig(tmp_path, remote={"url": "http://127.0.0.1:9/v1"}) as rig:
        rig.wait_ready()
        rig.think(1, text="hello")
        end = rig.end_of(1)
        assert end.reason == "failed"
        assert "127.0.0.1 cannot be reached" in end.problem


POCKET = catalogue.PACKAGE / "pocket/pocket-text.gguf"


def test_the_pocket_model_answers_a_spoken_question(tmp_path: Path) -> None:
    wav = tmp_path / "moon.wav"
    subprocess.run(["espeak-ng", "-w", str(wav), "tell me about the moon"], check=True)
    raw = np.frombuffer(wav.read_bytes()[44:], np.int16)
    at = np.arange(0, len(raw) - 1, 22_050 / 16_000)
    samples = np.interp(at, np.arange(len(raw)), raw).astype(np.int16)
    with Rig(tmp_path, model="pocket") as rig:
        rig.wait_ready()
        rig.say(1, samples)
        rig.think(1, 1)
        end = rig.end_of(1)
        assert end.reason == "complete"
        assert "moon" in rig.text_of(1).lower()
        assert isinstance(end, ThoughtEnded)
        assert end.first_sentence_ms > 0
