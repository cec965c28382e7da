"""Renders many sounds at once, without echo, in a sixth of the time of `render.scene`.

In: a role's sounds, a seed. Out: bursts, made with the listener's own filter, speech detector,
noise floor, gate, onset localisation and segment. Effects of an echo are left out (except for some
talk before the onset), as are effects of one sound on the next.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from appliance.hear.bargein.features import GIVEN_MS
from appliance.hear.bargein.segment import BLOCK_MS, Segment
from appliance.hear.onset import vad
from appliance.hear.onset.frontend import AudioBlock
from appliance.hear.onset.gate import OnsetGate, ResidualEcho
from appliance.hear.onset.highpass import HighPass
from appliance.hear.onset.noise_floor import NoiseFloor
from appliance.hear.onset.onset_locator import OnsetLocator
from appliance.onnx_session import open_session
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, level_db, to_int16
from lab.sim import acoustics
from training.verdict import noises
from training.verdict.render import DEADLINE_MS, DEFAULTS, Heard, conditions, convolved, near
from training.verdict.sounds import Sound, SoundSource

TOGETHER = 24  # sounds of a scene, relative to one owner's loudness
BEFORE_S, BLOCKS = 1.4, 500
SETTLED_BLOCKS = 120  # 0.6 s of room noise only, before the box starts to talk
PEAKS_DB = 6.0  # expected peaks of the residual talk above its mean
LATEST_MS = 300  # sounds whose onset is detected later than this are left out
TALK_SHARE = 0.4  # of the sounds start during residual echo of the box's talk
# With noise of dishes the gate is guarded, and opens when a voice is confirmed.
LATE_SHARE, LATE_MS = 0.35, (20, 200)
KITCHEN_SHARE, KITCHEN_DB = 0.5, (3.0, 18.0)  # of the scenes; noise below the owner
EVENTS_A_SECOND, EVENTS_DB = (0.5, 4.0), (0.0, 18.0)  # noises in a kitchen; level above its hum
HUM_HZ = 120.0  # as in `AudioFrontEnd`
Wave = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


def scene(sounds: SoundSource, seed: int) -> list[Heard]:
    """One room, one noise, one owner's loudness; each sound is rendered separately."""
    where, chance = conditions(sounds.role, seed), np.random.default_rng([seed, 2])
    response = near(where.rt60_s, where.room, float(chance.uniform(-2, 14)))
    far = near(min(0.9, where.rt60_s * 1.6), where.room + 7, -12.0)
    made = [sounds.next(chance) for _ in range(TOGETHER)]
    frames = BLOCKS * BLOCK_FRAMES
    if chance.random() < KITCHEN_SHARE:
        where = where._replace(noise_db=where.level_db - float(chance.uniform(*KITCHEN_DB)))
        noise = kitchen(where.noise_db, where.room, far, chance)
    else:
        noise = acoustics.noise(
            str(chance.choice(acoustics.NOISES)), 8 * RATE_HZ, level_db=where.noise_db,
            rate_hz=RATE_HZ, seed=where.room,
        ).astype(np.float32)  # fmt: skip
    talk = sounds.talk(chance, 10.0)
    mic = np.zeros((TOGETHER, frames))
    begins, hidden_db, late_ms = [], [], []
    for row, sound in zip(mic, made, strict=True):
        at = int(chance.integers(0, len(noise) - frames))
        row[:] = noise[at : at + frames]
        wet = convolved(_scaled(sound, where.level_db, chance),
                        far if sound.origin == "television" else response)  # fmt: skip
        first = int((BEFORE_S + chance.uniform(0, 0.05)) * RATE_HZ)
        wet = wet[: frames - first]
        row[first : first + len(wet)] += wet
        begins.append(first + sound.onset)
        late_ms.append(chance.uniform(*LATE_MS) if chance.random() < LATE_SHARE else 0.0)
        left_db = where.level_db - float(chance.uniform(2, 35))
        if chance.random() < TALK_SHARE:
            until = begins[-1] + int(late_ms[-1] * RATE_HZ) // 1000
            row += _talk(talk, until, left_db, frames, chance)
            hidden_db.append(left_db + PEAKS_DB)
        else:
            hidden_db.append(where.noise_db + float(chance.uniform(-20, 14)))
    heard = to_int16(mic)
    high_passed, speech = above_hum(heard), probabilities(heard)
    kept = []
    for i, sound in enumerate(made):
        burst = follow(heard[i], high_passed[i], speech[i], begins[i], hidden_db[i], late_ms[i])
        if burst is not None:
            burst.kind, burst.word, burst.origin = sound.kind, sound.word, sound.origin
            burst.who, burst.scene = sound.who, f"{sounds.role} quick {seed}"
            burst.length_ms = (sound.end - sound.onset) * 1000 / RATE_HZ
            kept.append(burst)
    return kept


def kitchen(level_db: float, room: int, response: Wave, chance: np.random.Generator) -> Wave:
    """Eight seconds of that level (dBFS) that can be looped: a hum or a hiss, and noises."""
    kind = str(chance.choice(acoustics.NOISES))
    frames = 8 * RATE_HZ
    noise = acoustics.noise(kind, frames, level_db=-30.0, rate_hz=RATE_HZ, seed=room) / 32768
    loud = 10 ** (-30.0 / 20)
    for _ in range(chance.poisson(8 * chance.uniform(*EVENTS_A_SECOND))):
        wave = convolved(noises.noise(chance)[1], response)[:frames]
        rms = float(np.sqrt(np.mean(np.square(wave)))) or 1.0
        wave = wave * (loud * 10 ** (chance.uniform(*EVENTS_DB) / 20) / rms)
        places = (chance.integers(frames) + np.arange(len(wave))) % frames
        noise[places] += wave
    rms = float(np.sqrt(np.mean(np.square(noise))))
    return np.asarray(noise * (32768 * 10 ** (level_db / 20) / rms), np.float32)


def _scaled(sound: Sound, level_db: float, chance: np.random.Generator) -> Wave:
    """The sound at its level at the microphone, as in `render`."""
    loudness_db = level_db + {
        "noise": chance.uniform(-12, 8), "television": chance.uniform(-30, -13)
    }.get(sound.origin, chance.uniform(-4, 4))  # fmt: skip
    rms = float(np.sqrt(np.mean(np.square(sound.wave[sound.onset : sound.end])))) or 1.0
    return sound.wave * np.float32(32768 * 10 ** (loudness_db / 20) / rms)


def _talk(
    talk: Wave, until: int, left_db: float, frames: int, chance: np.random.Generator
) -> Floats:
    """Residual echo of the box's talk, until the box becomes silent at the onset."""
    at = int(chance.integers(0, len(talk) - frames))
    level = 32768 * 10 ** (left_db / 20)
    silent = until + int(chance.uniform(0.02, 0.06) * RATE_HZ)
    fading_s = chance.uniform(0.01, 0.08)
    envelope = np.ones(frames)
    envelope[: SETTLED_BLOCKS * BLOCK_FRAMES] = 0
    envelope[silent:] = np.exp(-np.arange(frames - silent) / (fading_s * RATE_HZ))
    left = talk[at : at + frames] * envelope
    return np.asarray(left * (level / (float(np.sqrt(np.mean(np.square(talk)))) or 1.0)))


def above_hum(heard: npt.NDArray[np.int16]) -> Floats:
    """(N, steps, 80), high-passed at 120 Hz, full scale 1.0."""
    filters = HighPass(HUM_HZ, order=4, rate_hz=RATE_HZ, frames=BLOCK_FRAMES, channels=len(heard))
    steps = heard.T.reshape(-1, BLOCK_FRAMES, len(heard)) / 32768
    return np.array([filters(step).copy() for step in steps]).transpose(2, 0, 1)


def probabilities(heard: npt.NDArray[np.int16]) -> Floats:
    """(N, steps): probability of speech in steps in which a hop of the VAD ends, else nan."""
    session = open_session(vad.MODEL, "the speech detector")
    count, frames = heard.shape
    states = [np.zeros((2, count, 128), np.float32)] * 2
    window = np.zeros((count, vad.CONTEXT_FRAMES + vad.WINDOW_FRAMES), np.float32)
    out = np.full((count, frames // BLOCK_FRAMES), np.nan)
    for turn, end in enumerate(range(vad.HOP_FRAMES, frames + 1, vad.HOP_FRAMES)):
        window[:, : -vad.HOP_FRAMES] = window[:, vad.HOP_FRAMES :].copy()
        window[:, -vad.HOP_FRAMES :] = heard[:, end - vad.HOP_FRAMES : end] / 32768
        said, states[turn % 2] = session.run(
            None, {"input": window, "state": states[turn % 2], "sr": np.array(RATE_HZ, np.int64)}
        )
        out[:, (end - 1) // BLOCK_FRAMES] = said[:, 0]
    return out


def follow(
    heard: npt.NDArray[np.int16], high_passed: Floats, speech: Floats, begins: int,
    hidden_db: float, late_ms: float = 0.0,
) -> Heard | None:  # fmt: skip
    """The burst of the sound that starts at sample `begins`; None if no onset is detected in time.

    hidden_db  residual echo in dBFS; softer sounds do not open the gate
    late_ms    time for which the gate stays guarded after it fires
    """
    samples = heard.reshape(-1, BLOCK_FRAMES)
    floor, gate, locator, silence = (
        NoiseFloor(),
        OnsetGate(DEFAULTS.hearing.onset),
        OnsetLocator(),
        (ResidualEcho()),
    )
    earliest, latest = begins - RATE_HZ // 8, begins + LATEST_MS * RATE_HZ // 1000
    segment, made, probability = Segment(None), None, 0.5
    believed = None if late_ms else 0
    for i, sound in enumerate(high_passed):
        energy_db = level_db(sound)
        floor.update(energy_db, frozen=i >= SETTLED_BLOCKS)
        known = None if np.isnan(speech[i]) else float(speech[i])
        now = (i + 1) * BLOCK_FRAMES
        if made is None:
            fires = gate.process(energy_db, max(floor.db, hidden_db), silence)
            block = AudioBlock(
                samples[i], sound, energy_db, floor.db, gate.excess_db, fires, known, True
            )
            locator.push(block)
            if now > latest:
                return None
            if now < earliest:
                gate.reset()
            if fires and believed is None and now >= earliest:
                believed = now + int(late_ms * RATE_HZ) // 1000
            if not fires or now < earliest or believed is None or now < believed:
                continue
            onset = locator.onset() // BLOCK_FRAMES
            past = GIVEN_MS // BLOCK_MS
            made = Heard(i - onset + past, begins, sound=[samples[onset - past : i].ravel()])
            made.lead_ms = (begins - onset * BLOCK_FRAMES) * 1000 / RATE_HZ
            continue
        block = AudioBlock(samples[i], sound, energy_db, floor.db, 0.0, False, known, True)
        segment.update(block)
        probability = probability if known is None else known
        made.sound.append(samples[i])
        made.measures.append((energy_db, floor.db, probability, segment.level_db, segment.quiet_ms))
        if (i + 1 - onset) * BLOCK_MS >= DEADLINE_MS:
            return made
    return made
