"""`interlude voices say`: a file by any voice, and the times of its words."""

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


def test_a_voice_says_a_text_into_a_file_with_the_times_of_its_words(tmp_path: Path) -> None:
    out, times = tmp_path / "x.wav", tmp_path / "x.json"
    seconds = say_to_file(settings(tmp_path), "**Good** morning, moon.", "hibari", out, times)
    with wave.open(str(out)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE_HZ, 1, 2)
        assert file.getnframes() / RATE_HZ == seconds
    told = json.loads(times.read_text())
    assert (told["text"], told["voice"]) == ("Good morning, moon.", "hibari")
    assert [word["word"] for word in told["words"]] == ["Good", "morning,", "moon."]
    begins = [word["begins_s"] for word in told["words"]]
    assert begins == sorted(begins)
    assert begins[-1] < seconds


def test_the_head_says_a_text_that_the_model_never_drew(tmp_path: Path) -> None:
    out, times = tmp_path / "x.wav", tmp_path / "x.json"
    text = "The sea covers more than two thirds of our planet."
    seconds = say_to_file(settings(tmp_path), text, "head", out, times)
    with wave.open(str(out)) as file:
        assert (file.getframerate(), file.getnframes() / RATE_HZ) == (RATE_HZ, seconds)
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    told = json.loads(times.read_text())
    assert told["voice"] == "head"
    assert [word["word"] for word in told["words"]] == text.split()
    for word in told["words"]:
        piece = sound[round(word["begins_s"] * RATE_HZ) : round(word["is_over_s"] * RATE_HZ)]
        assert rms_dbfs(piece, RATE_HZ) > -45.0, word
    assert told["words"][-1]["is_over_s"] <= seconds + 1e-4


def test_a_voice_that_does_not_tell_makes_a_file_without_times(tmp_path: Path) -> None:
    out, times = tmp_path / "x.wav", tmp_path / "x.json"
    assert say_to_file(settings(tmp_path), "Good morning.", "espeak", out, times) > 0.5
    assert json.loads(times.read_text())["words"] == []


@pytest.mark.parametrize(
    ("text", "voice", "said"),
    [
        ("Hello.", "nobody", "no voice `nobody`"),
        ("…", "espeak", "no word"),
        ("word " * 300, "espeak", r"1499 characters long.*1000 at a time"),
    ],
)
def test_what_cannot_be_said_is_an_error_and_no_file(
    tmp_path: Path, text: str, voice: str, said: str
) -> None:
    with pytest.raises(VoiceError, match=said):
        say_to_file(settings(tmp_path), text, voice, tmp_path / "x.wav")
    assert not (tmp_path / "x.wav").exists()


def test_a_text_that_the_voice_cannot_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnsayableText, match="another script"):
        say_to_file(settings(tmp_path), "Это дом.", "hibari", tmp_path / "x.wav")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone"):
        say_to_file(settings(tmp_path), "Yes.", "espeak", tmp_path / "gone/x.wav")
