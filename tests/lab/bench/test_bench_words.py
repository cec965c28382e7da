"""The words of a bench: mixed, seeded, with a measurable onset."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import soundfile

from appliance.hear.bargein.recordings import find
from appliance.pcm import RATE_HZ
from lab.bench.bench_words import NOISY_FRAMES, RecordedWords, begins_aside, synthetic
from lab.sim.speech_source import OwnerSound


def write_clip(folder: Path, name: str, *, noise: float, loudness: float = 0.5) -> None:
    """Write a word of that loudness with one peak of 0.5, in noise."""
    path = folder / "words" / "stop" / f"{name}.flac"
    path.parent.mkdir(parents=True, exist_ok=True)
    clip = np.random.default_rng(1).uniform(-noise, noise, RATE_HZ)
    clip[4000:8000] = loudness * np.sin(np.arange(4000) * 0.3)
    clip[4100] = 0.5
    soundfile.write(path, clip, RATE_HZ)


def test_the_same_seed_gives_the_same_words_and_another_gives_others() -> None:
    names = [[word.name for word in islice(synthetic(seed), 6)] for seed in (1, 1, 2)]
    assert names[0] == names[1] != names[2]
    assert len(set(names[0])) > 1


def test_a_recorded_word_begins_where_it_exceeds_40_db_below_its_peak(tmp_path: Path) -> None:
    write_clip(tmp_path, "clear", noise=0.001)
    word = next(iter(RecordedWords(find(tmp_path).sources, 1)))
    assert word.kind == "real"
    assert abs(word.sound.onset - 4000) < 5


def test_a_recording_whose_noise_masks_the_onset_is_excluded_and_counted(tmp_path: Path) -> None:
    write_clip(tmp_path, "clear", noise=0.001)
    write_clip(tmp_path, "noisy", noise=0.05)
    words = RecordedWords(find(tmp_path).sources, 1)
    names = [word.name for word in islice(words, 3)]
    assert names == ["stop/clear"] * 3
    assert words.noisy >= 2
    assert NOISY_FRAMES == RATE_HZ // 50


def test_only_noisy_recordings_give_no_words(tmp_path: Path) -> None:
    write_clip(tmp_path, "noisy", noise=0.05)
    assert list(RecordedWords(find(tmp_path).sources, 1)) == []


def test_a_click_before_the_word_is_detected(tmp_path: Path) -> None:
    write_clip(tmp_path, "plain", noise=0.001)
    word = next(iter(RecordedWords(find(tmp_path).sources, 1)))
    assert not word.click
    clicked = word.sound.samples.copy()
    clicked[2000:2010] = 2000
    assert begins_aside(OwnerSound(clicked, 2000, word.sound.end))


def test_a_recording_louder_than_a_quiet_room_before_its_word_is_excluded(tmp_path: Path) -> None:
    write_clip(tmp_path, "hissing", noise=0.0045, loudness=0.1)
    words = RecordedWords(find(tmp_path).sources, 1)
    assert next(iter(words), None) is None
    assert words.noisy == 1
