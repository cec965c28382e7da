"""Piper's path, with a small voice that the tests make."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.voice.piper import PART_CHARACTERS, Piper, parts
from appliance.voice.shape import TARGET_DBFS, rms_dbfs
from tests.voice import onnx_voice
from tests.voice.test_espeak import all_of


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Piper]:
    loaded = Piper("tiny", onnx_voice.write(tmp_path_factory.mktemp("voice") / "tiny.onnx"))
    yield loaded
    loaded.close()


def test_a_sentence_becomes_sound_of_the_right_loudness_without_silence_before(
    voice: Piper,
) -> None:
    sound = all_of(voice.say("Hello there, how are you?"))
    assert len(sound) > 16000
    assert rms_dbfs(sound, 16000) == pytest.approx(TARGET_DBFS, abs=1.0)
    assert np.flatnonzero(np.abs(sound.astype(int)) > 200)[0] < 0.020 * 16000


def test_the_same_sentence_gives_the_same_samples(voice: Piper) -> None:
    first, second = (all_of(voice.say("The moon.")) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_long_text_comes_in_parts_of_which_the_first_is_soon_there(voice: Piper) -> None:
    speech = voice.say("A long sentence, with a clause, and another one, " * 10)
    pieces = 0
    while True:
        select.select([speech.fileno()], [], [], 5.0)
        samples = speech.read()
        if samples is None:
            break
        pieces += bool(len(samples))
    assert pieces > 3


def test_cancelling_ends_the_network_within_50_ms(tmp_path: Path) -> None:
    slow = Piper("slow", onnx_voice.write(tmp_path / "slow.onnx", spin=20_000))
    speech = slow.say("This takes many seconds.")
    time.sleep(0.1)  # so that the run has begun: there is nothing else to wait for
    assert speech.read() is not None
    begun = time.perf_counter()
    speech.cancel()
    assert time.perf_counter() - begun < 0.05
    select.select([speech.fileno()], [], [], 5.0)
    with pytest.raises(VoiceError, match=r"[Tt]erminat"):
        speech.read()
    assert time.perf_counter() - begun < 1.0
    slow.close()


def test_a_sentence_after_a_cancelled_one_is_spoken_whole(voice: Piper) -> None:
    wanted = all_of(voice.say("The moon."))
    for _ in range(5):
        voice.say("Something else entirely.").cancel()
    np.testing.assert_array_equal(all_of(voice.say("The moon.")), wanted)


def test_a_broken_onnx_file_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    model = onnx_voice.write(tmp_path / "broken.onnx")
    model.write_bytes(model.read_bytes()[:200])
    with pytest.raises(VoiceError, match="Fetch it again"):
        Piper("broken", model)


def test_an_onnx_file_that_is_no_voice_is_told_apart(tmp_path: Path) -> None:
    silero = Path(__file__).parents[2] / "appliance/models/silero_vad.onnx"
    with pytest.raises(VoiceError, match="not a Piper voice"):
        Piper("silero", silero)


@pytest.mark.parametrize("content", ["", "[]", "{}", "not JSON", '{"audio": 3}'])
def test_a_broken_config_is_an_error(tmp_path: Path, content: str) -> None:
    model = onnx_voice.write(tmp_path / "tiny.onnx")
    (tmp_path / "tiny.onnx.json").write_text(content, encoding="utf-8")
    with pytest.raises(VoiceError, match="config of a Piper voice"):
        Piper("tiny", model)


def test_a_missing_config_is_an_error(tmp_path: Path) -> None:
    model = onnx_voice.write(tmp_path / "tiny.onnx")
    (tmp_path / "tiny.onnx.json").unlink()
    with pytest.raises(VoiceError, match="cannot be read"):
        Piper("tiny", model)


@pytest.mark.parametrize("text", ["Short.", "One, two, three. " * 40, "word " * 200, "x" * 1000])
def test_parts_keep_every_word_and_stay_short(text: str) -> None:
    cut = list(parts(text))
    assert all(0 < len(part) <= PART_CHARACTERS for part in cut)
    assert "".join(cut).replace(" ", "") == text.replace(" ", "")
