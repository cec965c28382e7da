"""Clips of people: cut alike, each folder with its kind, no voice of another person."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from appliance.pcm import RATE_HZ
from lab.sim import people


def a_voice(seconds: float = 0.4, hz: float = 150.0) -> npt.NDArray[np.float32]:
    """A harmonic tone with 0.3 s of silence around it."""
    frames = np.arange(int(seconds * RATE_HZ))
    tone = sum(np.sin(2 * np.pi * hz * k * frames / RATE_HZ) / k for k in range(1, 40))
    quiet = np.zeros(3 * RATE_HZ // 10)
    return np.concatenate([quiet, np.asarray(tone) * 0.2, quiet]).astype(np.float32)


def test_every_clip_has_the_same_margins_and_peak() -> None:
    for seconds in (0.2, 0.5, 2.0):
        wave = a_voice(seconds)
        cut = people.cut(wave, 4800, 4800 + int(seconds * RATE_HZ))
        assert cut is not None
        assert np.abs(cut).max() == pytest.approx(0.5)
        wanted_s = min(seconds, people.LONGEST_S) + 2 * people.MARGIN_MS / 1000
        assert len(cut) == pytest.approx(wanted_s * RATE_HZ, abs=2)
        assert abs(cut[0]) == abs(cut[-1]) == 0


@pytest.mark.parametrize("wave", [np.zeros(8000, np.float32), a_voice()[:500]])
def test_a_silent_or_tiny_sound_is_no_clip(wave: npt.NDArray[np.float32]) -> None:
    assert people.cut(wave, 0, len(wave)) is None


def test_speech_starts_after_a_pause_and_stops_before_one() -> None:
    wave = np.concatenate([a_voice(), a_voice()])
    begins = [int(0.3 * RATE_HZ), int((0.3 + 0.4 + 0.6) * RATE_HZ)]
    assert people.starts(wave) == pytest.approx(begins, abs=RATE_HZ // 50)
    assert people.stop(wave, begins[0]) == pytest.approx(begins[0] + 0.4 * RATE_HZ, abs=640)


def shared(folder: Path) -> Path:
    """A folder like `shared` with one sound of each kind."""
    names = ["recordings/words/yes/0a_0", "recordings/words/stop/0b_0", "recordings/commands/0c",
             "conversations/wake_words/alexa/1", "conversations/murmurs/okay/MEE012_dev01-2-alone",
             "conversations/murmurs/um/MEE094_trn09-12.86-ov", "recordings/long/jfk",
             "conversations/household/dishes", "recordings/noise/kitchen"]  # fmt: skip
    long = np.tile(a_voice(), 5)
    for name in names:
        path = folder / f"{name}.flac"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(
            path, long if path.stem in ("jfk", "dishes", "kitchen") else a_voice(), RATE_HZ
        )
    moments = folder / "conversations/moments/meetings"
    moments.mkdir(parents=True)
    for name, yields in (("ami-es2002a-bc-1", False), ("ami-en2002b-take-0149", True)):
        about = {"caller_onset_sec": 0.3, "expected": {"yield": yields}}
        (moments / f"{name}.json").write_text(json.dumps(about))
        soundfile.write(moments / f"{name}.flac", np.stack([0.5 * long, long], axis=1), RATE_HZ)
    return folder


def test_every_folder_gives_its_clips(tmp_path: Path) -> None:
    found = people.recorded(shared(tmp_path))
    kinds = {(clip.source, clip.kind) for clip in found}
    assert kinds >= {
        ("words", "backchannel"), ("words", "interruption"), ("orders", "interruption"),
        ("wake words", "interruption"), ("murmurs", "backchannel"), ("meetings", "backchannel"),
        ("meetings", "interruption"), ("talk", "interruption"), ("kitchens", "noise"),
    }  # fmt: skip
    recordings = {clip.recording for clip in found}
    assert "ami-en2002b-take-0149" not in recordings  # begins as a murmur, and its talker murmurs
    assert "MEE094_trn09-12.86-ov" not in recordings


@pytest.mark.parametrize(("other", "count"), [(0.5, 5), (1.5, 0)])
def test_a_voice_that_leaks_into_the_talkers_channel_is_no_talk(
    tmp_path: Path, other: float, count: int
) -> None:
    folder = shared(tmp_path)
    path = folder / "conversations/moments/meetings/ami-es2002a-bc-1.flac"
    long = np.tile(a_voice(), 5) * 0.5
    soundfile.write(path, np.stack([other * long, long], axis=1), RATE_HZ)
    talk = [clip for clip in people.recorded(folder) if clip.word == "talk"]
    assert sum(clip.recording == path.stem for clip in talk) == count


def test_a_moment_is_silent_before_its_onset_and_as_recorded_after_it(tmp_path: Path) -> None:
    moment = people.moments(shared(tmp_path))[0]
    margin = RATE_HZ * (people.MARGIN_MS + people.FADE_MS) // 1000
    assert moment.kind == "interruption"
    assert not moment.voice[: moment.onset - margin].any()
    assert np.array_equal(moment.voice[moment.onset :], moment.channels[0][moment.onset :])
    assert moment.end - moment.onset == pytest.approx(0.4 * RATE_HZ, abs=640)
