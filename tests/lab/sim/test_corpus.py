"""Clips of recordings: held-out speakers, onset and end, and unusable recordings."""

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
    return RecordingFile(path, kind, path.parent.name)  # type: ignore[arg-type]  # kinds of the test


def test_the_split_of_speakers_is_fixed_and_noises_belong_to_both_sets(tmp_path: Path) -> None:
    names = [f"speaker{n}" for n in range(200)]
    assert 0.15 < np.mean([held_out(name) for name in names]) < 0.45
    recordings = [source(tmp_path / "yes" / f"{name}_0.flac", "backchannel") for name in names]
    held_out_ones, training_ones = (
        of_speakers(recordings, "held-out"),
        of_speakers(recordings, "training"),
    )
    assert {s.speaker for s in held_out_ones}.isdisjoint(s.speaker for s in training_ones)
    assert len(held_out_ones) + len(training_ones) == len(of_speakers(recordings, "all")) == 200
    noise = source(tmp_path / "noise" / "kitchen.flac", "noise")
    assert of_speakers([noise], "held-out") == of_speakers([noise], "training") == [noise]


def test_stereo_at_another_rate_becomes_mono_at_our_rate(tmp_path: Path) -> None:
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
def test_an_unusable_recording_is_refused_with_the_reason(
    tmp_path: Path, wave: np.ndarray, reason: str
) -> None:
    path = write(tmp_path / "stop" / "anna_0.wav", wave)
    with pytest.raises(InterludeError, match=reason) as caught:
        load(source(path))
    assert "anna_0.wav" in str(caught.value)


def test_the_onset_in_a_noisy_clip_is_where_the_word_exceeds_the_noise() -> None:
    clip = with_edges(word(noise=0.02))
    assert clip is not None
    assert not clip.clear
    assert abs(clip.onset - 4000) <= 80
    assert abs(clip.end - 8000) <= 80


def test_the_onset_in_a_clear_clip_is_exact_to_the_sample() -> None:
    clip = with_edges(word())
    assert clip is not None
    assert clip.clear
    assert abs(clip.onset - 4000) < 5


def test_a_background_recording_is_used_completely(tmp_path: Path) -> None:
    path = write(tmp_path / "noise" / "fan.flac", word(noise=0.1))
    clip = load(source(path, "background"))
    assert (clip.onset, clip.end) == (0, RATE_HZ)
