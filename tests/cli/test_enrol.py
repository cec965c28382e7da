"""`interlude enrol`: what it asks for, what it stores and what it prints."""

from __future__ import annotations

import shutil
import stat
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.cli import enrol
from appliance.hear.bargein import adaptation
from appliance.hear.bargein.enrolment import EnrolmentError, EnrolmentRecording
from appliance.messages.enrolling import WORDS
from appliance.pcm import RATE_HZ, Samples, from_float
from appliance.runtime import enrolled_files
from appliance.settings import Settings, load
from tests.hear.arena import at_level, say

pytestmark = pytest.mark.process
VOICE = "en-gb+m2"
SAID = {"mm-hm": ("[[m'mh'm]]", "[[mh'm]]", "uh-huh"), "wait": ("wait", "stop", "hold on")}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, {"state_dir": str(tmp_path / "state")})


@pytest.fixture
def owner(tmp_path: Path) -> Path:
    """A folder of recordings as an owner would make them."""
    for word, texts in SAID.items():
        folder = tmp_path / "mine" / word
        folder.mkdir(parents=True)
        for number, text in enumerate(texts):
            write(folder / f"{number}.wav", spoken(text))
    return tmp_path / "mine"


def spoken(text: str) -> Samples:
    out = from_float(at_level(np.random.default_rng(1).standard_normal(2 * RATE_HZ), -66))
    word = from_float(at_level(say(text, VOICE)))
    out[8000 : 8000 + len(word)] += word
    return out


def write(path: Path, samples: Samples) -> None:
    with wave.open(str(path), "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(RATE_HZ)
        wav.writeframes(samples.tobytes())


def test_a_folder_of_recordings_is_learned_and_can_be_forgotten(
    settings: Settings, owner: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert enrol.cli_enrol(settings, folder=owner, keep=True) == 0
    output = capsys.readouterr().out
    assert "6 recordings" in output
    state = settings.state_path()
    if "nothing was changed" in output:
        assert adaptation.load(state) is None
    else:
        assert adaptation.load(state) is not None
        kept = list((state / enrolled_files.FOLDER).rglob("*.wav"))
        assert len(kept) == 6
        assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
        assert enrol.cli_forget(settings) == 0
    assert not list((state / enrolled_files.FOLDER).glob("*"))
    assert adaptation.load(state) is None


def test_forgetting_without_an_enrolment_is_reported(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert enrol.cli_forget(settings) == 0
    assert "nothing to forget" in capsys.readouterr().out


def test_a_folder_with_one_class_only_is_refused_and_changes_nothing(
    settings: Settings, owner: Path
) -> None:
    shutil.rmtree(owner / "wait")
    with pytest.raises(EnrolmentError, match="no usable recordings for interruption"):
        enrol.cli_enrol(settings, folder=owner, keep=False)
    assert adaptation.load(settings.state_path()) is None


def test_unusable_recordings_are_named(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    from appliance.hear.bargein.network import VerdictNetwork

    silent = EnrolmentRecording("mm-hm 3", "backchannel", np.zeros(RATE_HZ, np.int16))
    assert enrol.usable([silent], settings, VerdictNetwork()) == []
    assert "Left out: mm-hm 3: is silent." in capsys.readouterr().out


def test_each_word_is_recorded_the_requested_number_of_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def recording(seconds: float, started: Callable[[], None]) -> Samples:
        started()
        return np.zeros(int(seconds * RATE_HZ), np.int16)

    takes = list(enrol.record_takes(recording, 2))
    assert len(takes) == 2 * len(WORDS)
    assert [t.kind for t in takes[:3]] == ["backchannel"] * 3
    output = capsys.readouterr().out
    for word in WORDS:
        assert output.count(f'"{word}"') == 2
