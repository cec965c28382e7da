"""The sounds of a scene's script."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.errors import InterludeError
from appliance.pcm import RATE_HZ
from lab.sim import scene, script_sounds
from lab.sim.speech_source import SPEECH_DB


def test_a_noise_of_the_script_has_the_given_level() -> None:
    raw = {"owner": [{"at_s": 1, "noise": "cough", "seed": 3, "level_db": -30}]}
    loaded = scene.parse(raw, name="x", folder=Path())
    sound = script_sounds.make(loaded, loaded.owner[0])
    body = sound.samples[sound.onset : sound.end] / 32768
    assert 10 * np.log10(np.mean(np.square(body))) == pytest.approx(-30, abs=0.5)
    assert loaded.owner[0].what == "(cough)"


def test_synthesised_words_have_the_speech_level_and_a_recording_keeps_its_own(
    tmp_path: Path,
) -> None:
    wave = 0.25 * np.sin(np.arange(RATE_HZ) * 0.1)
    soundfile.write(tmp_path / "x.wav", wave, RATE_HZ, "FLOAT")
    raw = {"owner": [{"at_s": 1, "say": "hello"}, {"at_s": 2, "wav": "x.wav"}]}
    loaded = scene.parse(raw, name="x", folder=tmp_path)
    words, recording = (script_sounds.make(loaded, entry) for entry in loaded.owner)
    body = words.samples[words.onset : words.end] / 32768
    assert 10 * np.log10(np.mean(np.square(body))) == pytest.approx(SPEECH_DB, abs=0.5)
    assert np.abs(recording.samples.astype(int)).max() == pytest.approx(8192, abs=2)


def test_an_invalid_sound_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_bytes(b"no sound")
    loaded = scene.parse({"owner": [{"at_s": 1, "wav": "x.wav"}]}, name="x", folder=tmp_path)
    with pytest.raises(InterludeError, match=r"x\.wav"):
        script_sounds.make(loaded, loaded.owner[0])
