"""Reading sound files: PCM WAV of any width, and errors for files that are not sound."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from appliance.audio.sound_file import duration_s, read_sound
from appliance.errors import RecordingError
from appliance.pcm import RATE_HZ

TONE = 0.5 * np.sin(2 * np.pi * 440 * np.arange(RATE_HZ) / RATE_HZ)


def write(path: Path, data: bytes, width: int, channels: int = 1, rate_hz: int = RATE_HZ) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate_hz)
        file.writeframes(data)
    return path


def pcm(width: int) -> bytes:
    """The tone as little-endian PCM of `width` bytes a sample."""
    steps = np.round(TONE * 2 ** (8 * width - 1)).astype(np.int64)
    if width == 1:
        return bytes((steps + 128).astype(np.uint8))
    return b"".join(int(step).to_bytes(width, "little", signed=True) for step in steps)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_pcm_of_every_width_is_read(tmp_path: Path, width: int) -> None:
    path = write(tmp_path / "tone.wav", pcm(width), width)
    assert np.abs(read_sound(path) - TONE).max() < 2.0 ** (1 - 8 * width) + 1e-6
    assert duration_s(path) == 1.0


def test_two_channels_are_averaged_and_resampled(tmp_path: Path) -> None:
    both = np.stack([np.full(48_000, 3000), np.full(48_000, 1000)], axis=1).astype("<i2")
    path = write(tmp_path / "both.wav", both.tobytes(), 2, channels=2, rate_hz=48_000)
    sound = read_sound(path)
    assert len(sound) == RATE_HZ
    assert np.abs(sound[2000:-2000] - 2000 / 32768).max() < 1e-3


def test_a_truncated_last_frame_is_ignored(tmp_path: Path) -> None:
    path = write(tmp_path / "tone.wav", pcm(2), 2)
    path.write_bytes(path.read_bytes()[:-1])
    assert len(read_sound(path)) == RATE_HZ - 1


@pytest.mark.parametrize("name", ["words.wav", "words.flac"])
@pytest.mark.parametrize("content", [b"", b"RIFF", b"no sound at all, but words"])
def test_a_file_that_is_not_sound_raises_an_error_that_names_it(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for read in (read_sound, duration_s):
        with pytest.raises(RecordingError, match=f"{name}: is no sound file"):
            read(path)


def test_a_file_without_a_sample_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="holds no sound"):
        read_sound(write(tmp_path / "empty.wav", b"", 2))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        read_sound(tmp_path / "none.wav")
