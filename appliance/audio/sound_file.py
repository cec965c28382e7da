"""Sound files: WAV by the standard library, FLAC where the package soundfile is installed.

In: a path. Out: float32, full scale at ±1.0, mixed to one channel, at 16 kHz.
"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soxr

from appliance.errors import RecordingError
from appliance.pcm import RATE_HZ

Floats = npt.NDArray[np.float32]
_FULL_SCALE = {1: 2.0**7, 2: 2.0**15, 3: 2.0**23, 4: 2.0**31}  # of PCM, by the bytes of a sample


def read_sound(path: Path) -> Floats:
    """The samples of a file, float32[n]. Raises RecordingError if it holds no sound."""
    samples, rate_hz = _read_wav(path) if path.suffix.lower() == ".wav" else _read_other(path)
    if not len(samples):
        raise RecordingError(f"{path}: holds no sound.")
    mono: Floats = samples.mean(axis=1, dtype=np.float32)
    return soxr.resample(mono, rate_hz, RATE_HZ) if rate_hz != RATE_HZ else mono


def duration_s(path: Path) -> float:
    """How long a sound file is, by its header. Raises RecordingError if it is none."""
    if path.suffix.lower() != ".wav":
        soundfile = _soundfile(path)
        try:
            return float(soundfile.info(path).duration)
        except (OSError, RuntimeError) as error:
            raise RecordingError(f"{path}: is no sound file ({error}).") from error
    try:
        with wave.open(str(path), "rb") as file:
            return file.getnframes() / file.getframerate()
    except (OSError, EOFError, wave.Error, ZeroDivisionError) as error:
        return _other_wav(path, error)


def _read_wav(path: Path) -> tuple[Floats, int]:
    """float32[frames, channels], and the rate. WAV that is no plain PCM goes to soundfile."""
    try:
        with wave.open(str(path), "rb") as file:
            width, channels, rate_hz = (
                file.getsampwidth(), file.getnchannels(), file.getframerate(),
            )  # fmt: skip
            data = file.readframes(file.getnframes())
    except (OSError, EOFError, wave.Error) as error:
        if isinstance(error, wave.Error) and "unknown format" in str(error):
            return _read_other(path)
        raise RecordingError(
            f"{path}: is no sound file ({str(error) or 'it is cut short'})."
        ) from error
    if width not in _FULL_SCALE or channels < 1 or rate_hz < 1:
        raise RecordingError(f"{path}: is no sound file (PCM of {width} bytes a sample).")
    data = data[: len(data) // (width * channels) * width * channels]
    return _of_pcm(data, width).reshape(-1, channels), rate_hz


def _of_pcm(data: bytes, width: int) -> Floats:
    """Little-endian integers of that many bytes as float32 (8 bits are unsigned: RIFF WAVE)."""
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


def _other_wav(path: Path, error: Exception) -> float:
    """The length of a WAV file that the standard library does not read."""
    if isinstance(error, wave.Error) and "unknown format" in str(error):
        samples, rate_hz = _read_other(path)
        return len(samples) / rate_hz
    raise RecordingError(
        f"{path}: is no sound file ({str(error) or 'it is cut short'})."
    ) from error


def _read_other(path: Path) -> tuple[Floats, int]:
    soundfile = _soundfile(path)
    try:
        samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, RuntimeError) as error:
        raise RecordingError(f"{path}: is no sound file ({error}).") from error
    return samples, int(rate_hz)


def _soundfile(path: Path):  # type: ignore[no-untyped-def] # a module without types
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise RecordingError(
            f"{path}: cannot be read here: only plain WAV can.",
            "Convert it, for instance by `ffmpeg -i IN -ar 16000 -ac 1 OUT.wav`.",
        ) from error
    return soundfile
