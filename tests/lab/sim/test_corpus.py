"""Clips of recordings: who is held out, where the sound begins, and what cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.errors import InterludeError
from appliance.hear.bargein.recordings import RecordingFile
from appliance.pcm import RATE_HZ
from lab.sim.corpus import held_out, load, of_speakers, with_edges
from tests.recorded_clips import word, write


def source(path: Path, kind: str = "interruption") -> RecordingFile:
    return RecordingFile(path, kind, path.parent.name)  # type: ignore[arg-type]  # the test's own words


def test_speakers_are_split_for_ever_and_noises_belong_to_both(tmp_path: Path) -> None:
    names = [f"speaker{n}" for n in range(200)]
    assert 0.15 < np.mean([held_out(name) for name in names]) < 0.45
    everybody = [source(tmp_path / "yes" / f"{name}_0.flac", "backchannel") for name in names]
    here, there = of_speakers(everybody, "held-out"), of_speakers(everybody, "training")
    assert {s.speaker for s in here}.isdisjoint(s.speaker for s in there)
    assert len(here) + len(there) == len(of_speakers(everybody, "all")) == 200
    noise = source(tmp_path / "noise" / "kitchen.flac", "noise")
    assert of_speakers([noise], "held-out") == of_speakers([noise], "training") == [noise]


def test_stereo_of_another_rate_becomes_mono_at_ours(tmp_path: Path) -> None:
    rate = 44_100
    time_s = np.arange(rate) / rate
    tone = np.where((time_s > 0.25) & (time_s < 0.5), 0.5 * np.sin(time_s * 3000), 0)
    path = write(tmp_path / "stop" / "anna_0.wav", np.stack([tone, tone / 2], axis=1), rate)
    clip = load(source(path))
    assert abs(len(clip.samples) - RATE_HZ) < 4
    assert abs(clip.onset - RATE_HZ // 4) < 80
    assert clip.clear
    level = clip.at(-26.0)[clip.onset : clip.end].astype(float) / 32768
    assert 10 * np.log10(np.mean(level**2)) == pytest.approx(-26.0, abs=0.1)


@pytest.mark.parametrize(
    ("wave", "reason"),
    [
        (word(frames=9000)[4000:5000], "too short"),
        (np.zeros(RATE_HZ, np.float32), "silent"),
        (np.sign(word()), "clipped"),
        (np.full(RATE_HZ, np.nan, np.float32), "no numbers"),
        (np.random.default_rng(1).uniform(-0.1, 0.1, RATE_HZ).astype(np.float32), "louder than"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, wave: np.ndarray, reason: str) -> None:
    path = write(tmp_path / "stop" / "anna_0.wav", wave)
    with pytest.raises(InterludeError, match=reason) as caught:
        load(source(path))
    assert "anna_0.wav" in str(caught.value)


def test_the_onset_in_a_noisy_clip_is_where_the_word_rises_out_of_it() -> None:
    clip = with_edges(word(noise=0.02))
    assert clip is not None
    assert not clip.clear
    assert abs(clip.onset - 4000) <= 80
    assert abs(clip.end - 8000) <= 80


def test_the_onset_in_a_clear_clip_is_the_samples_own() -> None:
    clip = with_edges(word())
    assert clip is not None
    assert clip.clear
    assert abs(clip.onset - 4000) < 5


def test_a_background_is_taken_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "noise" / "fan.flac", word(noise=0.1))
    clip = load(source(path, "background"))
    assert (clip.onset, clip.end) == (0, RATE_HZ)
