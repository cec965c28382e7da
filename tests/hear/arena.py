"""A simulated room for tests and measurements of hearing: an owner, a talking box, echo, noise.

The loop is closed as in the box: an onset silences the loudspeaker a little later, and a verdict
that is no interruption lets it go on.
"""

from __future__ import annotations

import functools
import io
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from appliance.hear.pipeline import HearingEvent, HearingPipeline
from appliance.messages.hearing import Onset, SpeechEnded, Verdict
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples, from_float
from tests import skips

T = TypeVar("T")
Wave = npt.NDArray[np.float64]
RECORDINGS = skips.RECORDINGS_FOLDER
PAUSE_BLOCKS = 3  # from an onset to silence at the card, and from a release to sound
INDEX = 1_000_000  # the card's index of the first sample

ANSWER = (
    "The weather tomorrow will be mostly sunny with a light breeze from the west. Temperatures "
    "should reach about twenty two degrees in the afternoon. To make the sauce, first chop two "
    "onions and a clove of garlic, then fry them slowly in olive oil until they are soft. The "
    "history of the lighthouse goes back more than two thousand years."
)


def say(text: str, voice: str = "en-us", speed: int = 175) -> Wave:
    """espeak-ng's speech, 16 kHz, from its first to its last sound."""
    return _spoken(text, voice, speed).copy()


@functools.cache
def _spoken(text: str, voice: str, speed: int) -> Wave:
    command = ["espeak-ng", "--stdout", "-v", voice, "-s", str(speed)]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    wave, rate = soundfile.read(io.BytesIO(done.stdout))
    return trimmed(soxr.resample(wave, rate, RATE_HZ))


@functools.cache
def recording(path: Path) -> Wave:
    wave, rate = soundfile.read(path)
    assert rate == RATE_HZ
    return np.asarray(wave, np.float64)


def words(word: str, count: int) -> list[Wave]:
    """Up to `count` recordings of a word, one for each speaker, trimmed; none if absent."""
    files = sorted((RECORDINGS / "words" / word).glob("*.flac"))
    by_speaker = {file.name.split("_")[0]: file for file in files}
    return [trimmed(recording(file)) for file in list(by_speaker.values())[:count]]


def trimmed(wave: Wave) -> Wave:
    """The sound from the first sample above -40 dB of the peak to the last."""
    loud = np.flatnonzero(np.abs(wave) > np.abs(wave).max() * 0.01)
    return wave[loud[0] : loud[-1] + 1]


def at_level(wave: Wave, level_db: float = -26.0) -> Wave:
    """`wave` scaled to `level_db`, dB full scale rms."""
    scaled: Wave = wave * (10 ** (level_db / 20) / np.sqrt(np.mean(wave**2)))
    return np.clip(scaled, -0.99, 0.99)


def impulse_response(seed: int = 0, rt60_s: float = 0.3, delay_ms: float = 40) -> Wave:
    """Direct sound, then decaying noise; about as reverberant as a living room."""
    length = int(rt60_s * RATE_HZ)
    t = np.arange(length) / RATE_HZ
    tail = np.random.default_rng(seed).standard_normal(length) * 10 ** (-3 * t / rt60_s)
    tail[:24] = 0.0
    tail *= 10 ** (-3 / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return np.concatenate([np.zeros(int(delay_ms * RATE_HZ / 1000)), tail])


@dataclass
class Run:
    """The result of `run`: events, each with the sample of the owner's track at which it came."""

    events: list[tuple[int, HearingEvent]] = field(default_factory=list)
    played: Samples = field(default_factory=lambda: np.zeros(0, np.int16))

    def of(self, kind: type[T]) -> list[tuple[int, T]]:
        return [(at, event) for at, event in self.events if isinstance(event, kind)]


def run(
    hearing: HearingPipeline,
    owner: Wave,
    *,
    answer: Wave | None = None,
    echo_db: float = -20.0,
    room: Wave | None = None,
    noise_db: float | None = -62.0,
    noise: Wave | None = None,
    pauses: bool = True,
    seed: int = 0,
) -> Run:
    """Play `owner` (float, full scale 1.0) to the box while it says `answer`.

    echo_db  level of the answer at the microphone, dB full scale rms
    noise    the room's noise, played at noise_db rms; white noise if None
    pauses   the box pauses at an onset as the real one does; otherwise it keeps talking
    """
    blocks = len(owner) // BLOCK_FRAMES
    frames = blocks * BLOCK_FRAMES
    sound = owner[:frames].copy()
    if noise_db is not None:
        if noise is None:
            noise = np.random.default_rng(seed).standard_normal(frames)
        sound += at_level(np.resize(noise, frames), noise_db)
    said = from_float(answer) if answer is not None else np.zeros(0, np.int16)
    response = impulse_response() if room is None else room
    if answer is not None:
        loudness = np.sqrt(np.mean(answer[np.abs(answer) > 1e-3] ** 2) * np.sum(response**2))
        response = response * 10 ** (echo_db / 20) / loudness
    echo = np.zeros(frames + len(response) + BLOCK_FRAMES)
    played = np.zeros(frames, np.int16)
    result = Run(played=played)
    position, held, change_at, silent = 0, False, -1, False
    for block in range(blocks):
        at = block * BLOCK_FRAMES
        if block == change_at:
            silent = held
        span = slice(at, at + BLOCK_FRAMES)
        if not silent and position < len(said):
            frame = said[position : position + BLOCK_FRAMES]
            played[at : at + len(frame)] = frame
            position += len(frame)
            echo[at : at + len(response) + BLOCK_FRAMES - 1] += np.convolve(
                played[span] / 32768, response
            )
        mic = from_float(sound[span] + echo[span])
        for event in hearing.process(mic, played[span], INDEX + at):
            result.events.append((at + BLOCK_FRAMES, event))
            if pauses and isinstance(event, Onset):
                held, change_at = True, block + PAUSE_BLOCKS
            elif (isinstance(event, Verdict) and event.kind != "interruption") or (
                isinstance(event, SpeechEnded) and event.last
            ):
                held, change_at = False, block + PAUSE_BLOCKS
    return result


def track(sounds: Sequence[Wave], *, lead_s: float, gap_s: float) -> tuple[Wave, list[int]]:
    """The sounds one after another, and the sample at which each begins."""
    parts, onsets, at = [np.zeros(int(lead_s * RATE_HZ))], [], int(lead_s * RATE_HZ)
    for sound in sounds:
        onsets.append(at)
        gap = np.zeros(int(gap_s * RATE_HZ) + (-len(sound)) % 16)
        parts += [sound, gap]
        at += len(sound) + len(gap)
    return np.concatenate(parts), onsets
