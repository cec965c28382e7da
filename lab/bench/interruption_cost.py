"""Profiles the stages of hearing while the box speaks, with a sampling profiler.

The listener's own `HearingPipeline` processes double talk in this thread; a signal handler notes a
thousand times a second in which of its files it is. The stages need no instrumentation for that.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import numpy as np

from appliance.hear import pipeline as listening
from appliance.hear.pipeline import HearingPipeline
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples, to_int16
from appliance.settings import Settings
from lab.bench import bench_speech
from lab.bench.interruption_trials import TrialRoom, echo_of
from lab.sim.speech_source import SPEECH_DB, scaled
from lab.sim.synthetic_phrases import Phrase, spoken

EVERY_S = 0.001
DELAY_FRAMES = 640
STAGES = (  # (stage, path prefix below hear/); the first match counts
    ("echo", "aec/"),
    ("speech probability", "onset/vad.py"),
    ("verdict", "bargein/"),
    ("gate", "onset/"),
)
REST = "the rest"
FOLDER = str(Path(listening.__file__).parent)


def stage_of(file: str) -> str:
    """The stage of a file below hear/."""
    path = Path(file).relative_to(FOLDER).as_posix()
    return next((stage for stage, prefix in STAGES if path.startswith(prefix)), REST)


def measure(settings: Settings, seconds: float) -> tuple[float, dict[str, float]]:
    """µs of one step of 5 ms in total, and the share of each stage. CPU time of this thread."""
    played = bench_speech.talk(settings, seconds, 1)
    mic = double_talk(played)
    hearing = HearingPipeline(settings.hearing)
    hearing.answering = True
    counts: Counter[str] = Counter()
    gc.collect()
    before_ns = time.thread_time_ns()
    with _profiling(counts):
        for at in range(0, len(mic) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
            span = slice(at, at + BLOCK_FRAMES)
            hearing.process(mic[span], played[span], at)
    steps = len(mic) // BLOCK_FRAMES
    step_us = (time.thread_time_ns() - before_ns) / 1000 / steps
    samples = sum(counts.values()) or 1
    names = [stage for stage, _ in STAGES] + [REST]
    return step_us, {name: counts[name] / samples for name in names}


def double_talk(played: Samples) -> Samples:
    """The microphone's sound while the box plays `played`, with a backchannel every two seconds
    that is as loud as the echo."""
    echo = echo_of(TrialRoom("", 0.4, 1002, SPEECH_DB))
    mic = np.zeros(len(played))
    for at in range(0, len(played) - 2 * DELAY_FRAMES + 1, DELAY_FRAMES):
        mic[at + DELAY_FRAMES : at + 2 * DELAY_FRAMES] = echo.process(
            played[at : at + DELAY_FRAMES]
        )
    murmur = spoken(Phrase("backchannel", "okay", "en-gb+f2", 160, 50))
    word = scaled(murmur.samples, murmur.onset, murmur.end, SPEECH_DB)
    for at in range(RATE_HZ, len(mic) - len(word), 2 * RATE_HZ):
        mic[at : at + len(word)] += word
    return to_int16(mic)


@contextlib.contextmanager
def _profiling(counts: Counter[str]) -> Iterator[None]:
    def on_signal(_: int, frame: FrameType | None) -> None:
        while frame is not None and not frame.f_code.co_filename.startswith(FOLDER):
            frame = frame.f_back
        if frame is not None:
            counts[stage_of(frame.f_code.co_filename)] += 1

    before = signal.signal(signal.SIGPROF, on_signal)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
