"""`interlude bench vad`: CPU time of hearing, in this process, on one thread, without a card."""

from __future__ import annotations

import time

import numpy as np

from appliance.hear.onset.vad import HOP_FRAMES, VoiceActivityDetector
from appliance.hear.pipeline import HearingPipeline
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from lab.bench.benches import SPREAD, BenchOptions, FigureTable, spread
from lab.bench.harness import TALK
from lab.sim import acoustics
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.script_sounds import make

EVENTS = 2000  # frames of Silero's network
SECONDS = 20  # of sound through all of hearing
DELAY_FRAMES = 640  # 40 ms from the loudspeaker to the microphone


def bench(options: BenchOptions) -> list[FigureTable]:
    """The network alone, and all of hearing while the box is silent and while it speaks."""
    frames = options.events or EVENTS
    speech = make(Scene(name="bench"), ScriptedUtterance(say=TALK)).samples
    network = FigureTable("Silero's network, µs a frame of 32 ms, on one thread", ("", *SPREAD))
    network.rows.append(("one frame", *spread(frame_us(speech, frames), 0)))
    hearing = FigureTable(
        "All of hearing", ("", "% of real time", "µs a step of 5 ms: p50", *SPREAD[1:])
    )
    seconds = min(SECONDS, max(1, frames // 100))
    for name, played in (("the box is silent", np.zeros_like(speech)), ("it speaks", speech)):
        steps = step_us(options, np.resize(played, seconds * RATE_HZ))
        share = 100 * sum(steps) / (seconds * 1e6)
        hearing.rows.append((name, round(share, 1), *spread(steps, 0)))
    hearing.notes.append(
        "Echo canceller, noise floor, gate and two interleaved networks (a frame every 16 ms), in "
        "CPU time of this thread; an echo of −30 dBFS, noise of −70 dBFS. Without rings and "
        "messages."
    )
    return [network, hearing]


def frame_us(speech: Samples, frames: int) -> list[float]:
    """µs of each of `frames` hops, which run the network once over 32 ms of sound."""
    probability = VoiceActivityDetector()
    sound = np.resize(speech, (frames + 10) * HOP_FRAMES)
    times = []
    for at in range(0, len(sound), HOP_FRAMES):
        before_ns = time.perf_counter_ns()
        probability.process(sound[at : at + HOP_FRAMES])
        times.append((time.perf_counter_ns() - before_ns) / 1000)
    return times[10:]  # the first calls are slower, with cold caches


def step_us(options: BenchOptions, played: Samples) -> list[float]:
    """µs of CPU of each step of hearing while the box plays `played`."""
    response = acoustics.impulse_response(0.3, rate_hz=RATE_HZ, echo_db=-30.0)
    size = 1 << (len(played) + len(response)).bit_length()
    spectrum = np.fft.rfft(played, size) * np.fft.rfft(response, size)
    echo = np.roll(np.fft.irfft(spectrum, size)[: len(played)], DELAY_FRAMES)
    noise = acoustics.noise("white", len(played), level_db=-70.0, rate_hz=RATE_HZ)
    mic = np.clip(np.rint(echo) + noise, -32768, 32767).astype(np.int16)
    hearing = HearingPipeline(options.settings.hearing)
    hearing.answering = bool(played.any())
    times = []
    for at in range(0, len(mic) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
        span = slice(at, at + BLOCK_FRAMES)
        before_ns = time.thread_time_ns()
        hearing.process(mic[span], played[span], at)
        times.append((time.thread_time_ns() - before_ns) / 1000)
    return times
