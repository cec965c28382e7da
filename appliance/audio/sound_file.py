"""Reads sound files: WAV with the standard library, FLAC where the package soundfile is installed.

In: a path. Out: float32, full scale at ±1.0, mixed to one channel, at 16 kHz.
"""

from __future__ import annotations

import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soxr

from appliance.errors import RecordingError
from appliance.pcm import RATE_HZ

Floats = npt.NDArray[np.float32]
_FULL_SCALE = {1: 2.0**7, 2: 2.0**15, 3: 2.0**23, 4: 2.0**31}  # of PCM, by bytes per sample


def read_sound(path: Path) -> Floats:
    """Read a file as float32[n]. Raises RecordingError if it contains no sound."""
    with _refused(path):
        wav = _plain_wav(path)
        if wav is not None:
            samples, rate_hz = _read_wav(path, wav)
        else:
            samples, rate_hz = _soundfile(path).read(path, dtype="float32", always_2d=True)
    if not len(samples):
        raise RecordingError(f"{path}: holds no sound.")
    mono: Floats = samples.mean(axis=1, dtype=np.float32)
    return soxr.resample(mono, rate_hz, RATE_HZ) if rate_hz != RATE_HZ else mono


def duration_s(path: Path) -> float:
    """Duration of a sound file by its header. Raises RecordingError if it is not one."""
    with _refused(path):
        wav = _plain_wav(path)
        if wav is None:
            return float(_soundfile(path).info(path).duration)
        with wav:
            return wav.getnframes() / wav.getframerate()


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Convert the exceptions of both readers to RecordingError."""
    try:
        yield
    except (OSError, EOFError, RuntimeError, ZeroDivisionError, wave.Error) as error:
        why = str(error) or "it is cut short"
        raise RecordingError(f"{path}: is no sound file ({why}).") from error


def _plain_wav(path: Path) -> wave.Wave_read | None:
    """Open a WAV file; None for formats that the standard library does not read: WAV other than
    PCM, and all other files."""
    if path.suffix.lower() != ".wav":
        return None
    try:
        return wave.open(str(path), "rb")
    except wave.Error as error:
        if "unknown format" in str(error):
            return None
        raise


def _read_wav(path: Path, wav: wave.Wave_read) -> tuple[Floats, int]:
    """The samples, float32[frames, channels], and the rate in Hz."""
    with wav:
        width, channels, rate_hz = wav.getsampwidth(), wav.getnchannels(), wav.getframerate()
        data = wav.readframes(wav.getnframes())
    if width not in _FULL_SCALE or channels < 1 or rate_hz < 1:
        raise RecordingError(f"{path}: is no sound file (PCM of {width} bytes a sample).")
    data = data[: len(data) // (width * channels) * width * channels]
    return _of_pcm(data, width).reshape(-1, channels), rate_hz


def _of_pcm(data: bytes, width: int) -> Floats:
    """Little-endian integers of `width` bytes as float32 (8 bits are unsigned: RIFF WAVE)."""
    if width == 1:
        values = np.frombuffer(data, np.uint8).astype(np.float32) - 128
    elif width == 3:
        parts = np.frombuffer(data, np.uint8).reshape(-1, 3)
        padded = np.zeros((len(parts), 4), np.uint8)
        padded[:, 1:] = parts
        values = (padded.view("<i4")[:, 0] >> 8).astype(np.float32)
    else:
        values = np.frombuffer(data, f"<i{width}").astype(np.float32)
    scaled: Floats = values / np.float32(_FULL_SCALE[width])
    return scaled


def _soundfile(path: Path) -> Any:
    """Import the package soundfile, which has no type annotations."""
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise RecordingError(
            f"{path}: cannot be read here: only plain WAV can.",
            "Convert it, for instance by `ffmpeg -i IN -ar 16000 -ac 1 OUT.wav`.",
        ) from error
    return soundfile
