"""A simulated room for tests and measurements of hearing: an owner, a talking box, echo, noise.

The loop is closed as in the box: an onset silences the loudspeaker a little later, and a verdict
that is no interruption lets it go on.
"""

from __future__ import annotations

import copy
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

from appliance.hear.bargein.network import NetworkClassifier
from appliance.hear.network_judge import DirectJudge
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


def networks(hearing: object) -> tuple[object, ...]:
    """What copies of a pipeline share: its networks without a state, or their sessions."""
    assert isinstance(hearing, HearingPipeline)
    tracker = hearing._interjection._tracker
    classifier, murmurs = tracker._classifier, tracker._murmurs
    assert isinstance(classifier, NetworkClassifier)
    shared = hearing._front_end.speech._session, classifier._network._session
    judge = murmurs._network if murmurs is not None else None
    return (*shared, judge._network) if isinstance(judge, DirectJudge) else shared


@dataclass
class Run:
    """The result of `run`: events, each with the sample of the owner's track at which it came."""

    events: list[tuple[int, HearingEvent]] = field(default_factory=list)
    played: Samples = field(default_factory=lambda: np.zeros(0, np.int16))

    def of(self, kind: type[T]) -> list[tuple[int, T]]:
        return [(at, event) for at, event in self.events if isinstance(event, kind)]


class Room:
    """The room, the box that talks in it, and what has happened so far."""

    def __init__(
        self,
        hearing: HearingPipeline,
        *,
        answer: Wave | None = None,
        echo_db: float = -20.0,
        room: Wave | None = None,
        pauses: bool = True,
    ) -> None:
        self.hearing = hearing
        self.result = Run()
        self._said = from_float(answer) if answer is not None else np.zeros(0, np.int16)
        response = impulse_response() if room is None else room
        if answer is not None:
            loudness = np.sqrt(np.mean(answer[np.abs(answer) > 1e-3] ** 2) * np.sum(response**2))
            response = response * 10 ** (echo_db / 20) / loudness
        # The echo is computed for as many blocks at once as pass before its first sample: blocks
        # alone took a tenth of the time of these tests.
        chunk = max(1, int(np.flatnonzero(response)[0]) // BLOCK_FRAMES)
        self._chunk_frames = chunk * BLOCK_FRAMES
        self._size = 1 << (self._chunk_frames + len(response)).bit_length()
        self._spectrum = np.fft.rfft(response, self._size)
        self._pauses = pauses
        self._now = self._position = 0
        self._held, self._change_at, self._silent = False, -1, False
        self._echo = np.zeros(self._size)

    def copied(self) -> Room:
        """Another room like this one, from now on."""
        return copy.deepcopy(self, {id(each): each for each in networks(self.hearing)})

    def hear(
        self,
        owner: Wave,
        *,
        noise_db: float | None = -62.0,
        noise: Wave | None = None,
        seed: int = 0,
    ) -> Run:
        """Play `owner` to the box. Returns all that has happened since the first call."""
        blocks = len(owner) // BLOCK_FRAMES
        frames = blocks * BLOCK_FRAMES
        sound = owner[:frames].copy()
        if noise_db is not None:
            if noise is None:
                noise = np.random.default_rng(seed).standard_normal(frames)
            sound += at_level(np.resize(noise, frames), noise_db)
        first, played = self._now, self.result.played
        self.result.played = np.concatenate([played, np.zeros(frames, np.int16)])
        self._echo = np.concatenate([self._echo, np.zeros(frames)])
        for at in range(0, frames, BLOCK_FRAMES):
            self._block(first + at, sound[at : at + BLOCK_FRAMES])
        self._now += frames
        return self.result

    def _block(self, at: int, sound: Wave) -> None:
        if at == self._change_at:
            self._silent = self._held
        span = slice(at, at + BLOCK_FRAMES)
        played = self.result.played
        if not self._silent and self._position < len(self._said):
            frame = self._said[self._position : self._position + BLOCK_FRAMES]
            played[at : at + len(frame)] = frame
            self._position += len(frame)
        if (at + BLOCK_FRAMES) % self._chunk_frames == 0:
            chunk = played[at + BLOCK_FRAMES - self._chunk_frames : at + BLOCK_FRAMES]
            self._reflect(chunk, at + BLOCK_FRAMES - self._chunk_frames)
        mic = from_float(sound + self._echo[span])
        for event in self.hearing.process(mic, played[span], INDEX + at):
            self.result.events.append((at + BLOCK_FRAMES, event))
            if self._pauses and isinstance(event, Onset):
                self._held, self._change_at = True, at + PAUSE_BLOCKS * BLOCK_FRAMES
            elif (isinstance(event, Verdict) and event.kind != "interruption") or (
                isinstance(event, SpeechEnded) and event.last
            ):
                self._held, self._change_at = False, at + PAUSE_BLOCKS * BLOCK_FRAMES

    def _reflect(self, chunk: Samples, at: int) -> None:
        """Add the echo of what was played from sample `at` on."""
        if chunk.any():
            wet = np.fft.irfft(np.fft.rfft(chunk / 32768, self._size) * self._spectrum, self._size)
            target = self._echo[at : at + self._size]
            target += wet[: len(target)]


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
    arena = Room(hearing, answer=answer, echo_db=echo_db, room=room, pauses=pauses)
    return arena.hear(owner, noise_db=noise_db, noise=noise, seed=seed)


def track(sounds: Sequence[Wave], *, lead_s: float, gap_s: float) -> tuple[Wave, list[int]]:
    """The sounds one after another, and the sample at which each begins."""
    parts, onsets, at = [np.zeros(int(lead_s * RATE_HZ))], [], int(lead_s * RATE_HZ)
    for sound in sounds:
        onsets.append(at)
        gap = np.zeros(int(gap_s * RATE_HZ) + (-len(sound)) % 16)
        parts += [sound, gap]
        at += len(sound) + len(gap)
    return np.concatenate(parts), onsets
