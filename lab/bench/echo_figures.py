"""Measures an echo canceller alone on two tracks, without the rest of the hearing pipeline.

In: a canceller, a room, speech. Out: echo attenuation in dB over time, in single talk, in double
talk, and after a change of the room or the volume. Pure, except for the CPU time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from appliance.hear.aec.factory import EchoCanceller
from appliance.pcm import RATE_HZ, Samples, to_int16
from lab.bench.interruption_trials import in_room
from lab.sim import acoustics

STEP = RATE_HZ // 200
DELAY = RATE_HZ // 25  # 40 ms through the card and its buffers
LENGTH_S = 30
CHANGE_S = 20  # time of the echo path change
OWNER_S = ((11, 13), (15, 17))
RECOVERED_DB = 6.0  # recovered: attenuation at most so far below that before the change
Wave = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EchoFigures:
    """Echo attenuation in dB in the first second, the second, the rest of the first ten, and in
    double talk after that; seconds from the echo path change until it is within 6 dB of the value
    before (None: never); and µs of CPU a step."""

    first_db: float
    second_db: float
    settled_db: float
    double_db: float
    recovery_s: float | None
    step_us: float


@dataclass(frozen=True)
class EchoScene:
    """A test condition. Levels in dBFS rms at the microphone; `drive`: gain into the loudspeaker's
    tanh (0: linear); `turned_db`: change of the volume at `CHANGE_S` (0: the response changes
    instead, as if the box was moved); `ppm`: by how much the microphone's clock runs fast."""

    rt60_s: float
    seed: int
    echo_db: float
    owner_db: float = -26.0
    drive: float = 0.0
    turned_db: float = 0.0
    ppm: float = 0.0


def measure(canceller: EchoCanceller, scene: EchoScene, far: Samples, near: Samples) -> EchoFigures:
    """`far` and `near` are speech, each at least `LENGTH_S` long; `near` is scaled here."""
    frames = LENGTH_S * RATE_HZ
    far = far[:frames]
    echo = echo_of(scene, far)
    owner = np.zeros(frames)
    speech = near[:frames] * (
        32768 * 10 ** (scene.owner_db / 20) / np.sqrt(np.mean(near[:frames].astype(float) ** 2))
    )
    for first, last in OWNER_S:
        span = slice(first * RATE_HZ, last * RATE_HZ)
        owner[span] = speech[span]
    room = acoustics.noise("white", frames, level_db=-70.0, rate_hz=RATE_HZ, seed=scene.seed)
    mic = to_int16(echo + owner + room)
    began = time.thread_time()
    residual_blocks = [canceller.cancel_echo(mic[at : at + STEP], far[at : at + STEP])
                       for at in range(0, frames, STEP)]  # fmt: skip
    step_us = (time.thread_time() - began) / len(residual_blocks) * 1e6
    residual = np.concatenate(residual_blocks) - owner - room
    double = owner != 0

    def attenuation_db(
        first_s: float, last_s: float, where: npt.NDArray[np.bool_] | None = None
    ) -> float:
        span = slice(round(first_s * RATE_HZ), round(last_s * RATE_HZ))
        some = np.ones(span.stop - span.start, bool) if where is None else where[span]
        return _db(np.sum(echo[span][some] ** 2), np.sum(residual[span][some] ** 2))

    usual_db = attenuation_db(17.5, CHANGE_S)
    recovery_times = (s for s in np.arange(CHANGE_S, LENGTH_S - 0.5, 0.25)
                      if attenuation_db(s, s + 0.5) > usual_db - RECOVERED_DB)  # fmt: skip
    recovered = next(recovery_times, None)
    return EchoFigures(
        attenuation_db(0, 1),
        attenuation_db(1, 2),
        attenuation_db(2, 10),
        attenuation_db(11, 17, double),
        None if recovered is None else float(recovered) - CHANGE_S,
        step_us,
    )


def echo_of(scene: EchoScene, far: Samples) -> Wave:
    """The echo of `far` at the microphone, float64 in int16's scale, with the echo path change."""
    spoken = far.astype(np.float32)
    if scene.drive:
        spoken = np.tanh(spoken * (scene.drive / 32768)) * np.float32(32768 / scene.drive)
    responses = [
        acoustics.impulse_response(
            scene.rt60_s, rate_hz=RATE_HZ, echo_db=scene.echo_db, seed=scene.seed + offset
        )
        for offset in (0, 50)
    ]
    if scene.turned_db:
        responses[1] = responses[0] * np.float32(10 ** (scene.turned_db / 20))
    first, second = (in_room(spoken, response)[: len(far)] for response in responses)
    change = CHANGE_S * RATE_HZ
    echo = np.concatenate([first[:change], second[change:]]).astype(np.float64)
    delayed = np.concatenate([np.zeros(DELAY), echo])[: len(far)]
    if not scene.ppm:
        return delayed
    positions = np.arange(len(delayed)) * (1 + scene.ppm * 1e-6)
    skewed: Wave = np.interp(positions, np.arange(len(delayed)), delayed)
    return skewed


def _db(before: float, after: float) -> float:
    return float(10 * np.log10((before + 1e-9) / (after + 1e-9)))
