"""`interlude voices say`: a sound file by any voice, and the times of its words."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import numpy as np
import pytest

from appliance.cli.speech_file import say_to_file
from appliance.errors import StorageError, UnsayableText, VoiceError
from appliance.pcm import RATE_HZ
from appliance.settings import Settings, load
from appliance.voice.postprocess import rms_dbfs

pytestmark = pytest.mark.process


def settings(folder: Path) -> Settings:
    return load(None, {"state_dir": str(folder)})


def test_a_voice_writes_a_file_and_the_times_of_its_words(tmp_path: Path) -> None:
    out, times = tmp_path / "x.wav", tmp_path / "x.json"
    seconds = say_to_file(settings(tmp_path), "**Good** morning, moon.", "hibari", out, times)
    with wave.open(str(out)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE_HZ, 1, 2)
        assert file.getnframes() / RATE_HZ == seconds
    record = json.loads(times.read_text())
    assert (record["text"], record["voice"]) == ("Good morning, moon.", "hibari")
    assert [word["word"] for word in record["words"]] == ["Good", "morning,", "moon."]
    begins = [word["begins_s"] for word in record["words"]]
    assert begins == sorted(begins)
    assert begins[-1] < seconds


def test_the_head_speaks_a_text_that_the_model_did_not_generate(tmp_path: Path) -> None:
    out, times = tmp_path / "x.wav", tmp_path / "x.json"
    text = "The sea covers more than two thirds of our planet."
    seconds = say_to_file(settings(tmp_path), text, "head", out, times)
    with wave.open(str(out)) as file:
        assert (file.getframerate(), file.getnframes() / RATE_HZ) == (RATE_HZ, seconds)
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    record = json.loads(times.read_text())
    assert record["voice"] == "head"
    assert [word["word"] for word in record["words"]] == text.split()
    for word in record["words"]:
        piece = sound[round(word["begins_s"] * RATE_HZ) : round(word["is_over_s"] * RATE_HZ)]
        assert rms_dbfs(piece, RATE_HZ) > -45.0, word
    assert record["words"][-1]["is_over_s"] <= seconds + 1e-4


def test_a_voice_without_word_times_writes_an_empty_list(tmp_path: Path) -> None:
    out, times = tmp_path / "x.wav", tmp_path / "x.json"
    assert say_to_file(settings(tmp_path), "Good morning.", "espeak", out, times) > 0.5
    assert json.loads(times.read_text())["words"] == []


@pytest.mark.parametrize(
    ("text", "voice", "why"),
    [
        ("Hello.", "nobody", "no voice `nobody`"),
        ("…", "espeak", "no word"),
        ("word " * 300, "espeak", r"1499 characters long.*1000 at a time"),
    ],
)
def test_a_text_that_cannot_be_spoken_is_an_error_and_writes_no_file(
    tmp_path: Path, text: str, voice: str, why: str
) -> None:
    with pytest.raises(VoiceError, match=why):
        say_to_file(settings(tmp_path), text, voice, tmp_path / "x.wav")
    assert not (tmp_path / "x.wav").exists()


def test_a_text_in_another_script_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnsayableText, match="another script"):
        say_to_file(settings(tmp_path), "Это дом.", "hibari", tmp_path / "x.wav")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone"):
        say_to_file(settings(tmp_path), "Yes.", "espeak", tmp_path / "gone/x.wav")
