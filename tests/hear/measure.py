"""Measurements of hearing: run `python -m tests.hear.measure` from the repository's root.

Onsets in quiet, in noise and over the talking box; the box's own voice alone; verdicts; cost.
Times are from the true onset, the first sample above -40 dB of a sound's peak, and include the
5 ms block. The room is simulated (arena.py); the speech is espeak-ng's and, if available,
recordings.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from appliance.hear.onset.vad import VoiceActivityDetector
from appliance.hear.pipeline import HearingPipeline
from appliance.messages.hearing import Onset, SpeechStarted, Verdict
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from tests.hear.arena import (
    ANSWER,
    RECORDINGS,
    Wave,
    at_level,
    impulse_response,
    recording,
    run,
    say,
    track,
    trimmed,
)

VOICES = ("en-us", "en-gb", "en-us+f3", "en-gb+m3")
PHRASES = ("stop", "wait", "right", "yes", "no", "what about the sea", "hello", "thank you")
HUM = "[[m'mh'm]]"  # phonemes that make espeak-ng hum "mm-hm" instead of spelling it
BACKCHANNELS = (HUM, "uh-huh", "okay", "right", "yeah")
INTERRUPTIONS = (
    "wait, tell me about the moon instead", "stop please", "no wait", "hold on a second",
    "what about the sea", "stop", "wait", "no",
)  # fmt: skip
WORDS = ("yes", "right", "stop", "no", "go", "seven")
SETTINGS = load_defaults().hearing


def answer(seconds: int) -> Wave:
    spoken = np.concatenate([say(ANSWER, voice) for voice in ("en-us", "en-gb")])
    return at_level(np.resize(spoken, seconds * RATE_HZ), -20)


def recorded(count: int) -> list[Wave]:
    """Words of many speakers whose recordings have little noise (under -55 dB of the peak)."""
    files = [f for w in WORDS for f in sorted((RECORDINGS / "words" / w).glob("*.flac"))]
    random.Random(1).shuffle(files)
    clean = (recording(file) for file in files)
    return [trimmed(wave) for wave in clean if _own_noise_db(wave) < -55][:count]


def _own_noise_db(wave: Wave) -> float:
    levels = np.sqrt(np.mean(wave[: len(wave) // 320 * 320].reshape(-1, 320) ** 2, axis=1))
    return float(20 * np.log10(np.sort(levels)[2] / np.abs(wave).max() + 1e-9))


def onsets(name: str, sounds: Sequence[Wave], talk_db: float | None, noise_db: float) -> None:
    owner, true = track([at_level(s) for s in sounds], lead_s=3 if talk_db is None else 12,
                        gap_s=1.3 if talk_db is None else 2.2)  # fmt: skip
    talk = None if talk_db is None else answer(int(len(owner) / RATE_HZ))
    result = run(
        HearingPipeline(SETTINGS), owner, answer=talk, echo_db=talk_db or 0, noise_db=noise_db
    )
    at = [sample for sample, _ in result.of(Onset)]
    found = [next((a - t for a in at if 0 < a - t < RATE_HZ // 2), None) for t in true]
    delays = [each / 16 for each in found if each is not None]
    p50, p95, p99 = np.percentile(delays, [50, 95, 99])
    print(f"{name:34} {len(true):4} onsets  p50 {p50:4.0f}  p95 {p95:4.0f}  p99 {p99:4.0f} ms  "
          f"{found.count(None):3} missed for 500 ms")  # fmt: skip


def echo_only(seed: int, delay_ms: float, echo_db: float, seconds: int) -> None:
    room = impulse_response(seed, delay_ms=delay_ms)
    silence = np.zeros(seconds * RATE_HZ)
    result = run(
        HearingPipeline(SETTINGS), silence, answer=answer(seconds), echo_db=echo_db, room=room
    )
    at = [sample / RATE_HZ for sample, _ in result.of(Onset)]
    yields = sum(v.kind == "interruption" for _, v in result.of(Verdict))
    first = sum(second < 10 for second in at)
    print(
        f"room {seed:2}, {delay_ms:2.0f} ms, echo {echo_db:.0f} dB: false pauses {first} in 10 s "
        f"and {len(at) - first} in the {seconds - 10} s after; self-interruptions {yields}"
    )


def false_pauses(noise_db: float) -> None:
    kitchen = recording(RECORDINGS / "noise" / "kitchen.flac")
    result = run(
        HearingPipeline(SETTINGS), np.zeros(len(kitchen)), noise=kitchen, noise_db=noise_db
    )
    per_minute = len(result.of(Onset)) / (len(kitchen) / RATE_HZ / 60)
    print(f"kitchen at {noise_db:.0f} dBFS: {per_minute:.1f} onsets a minute, "
          f"{len(result.of(SpeechStarted))} taken for speech")  # fmt: skip


def verdicts(name: str, sounds: Sequence[Wave], talk: Wave) -> None:
    owner, true = track([at_level(sound) for sound in sounds], lead_s=10, gap_s=2.2)
    result = run(HearingPipeline(SETTINGS), owner, answer=talk)
    kinds: Counter[str] = Counter()
    ages = []
    for onset in true:
        near = [o.serial for at, o in result.of(Onset) if -800 < at - onset < RATE_HZ // 2]
        given = [v for _, v in result.of(Verdict) if v.serial in near]
        kinds[given[-1].kind if given else "missed"] += 1
        ages += [v.age_ms for v in given[-1:]]
    shares = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    print(f"{name:40} {shares:44} p50 {np.median(ages):.0f} ms")


def cost(seconds: int) -> None:
    hearing, talk = HearingPipeline(SETTINGS), answer(seconds)
    frames = (talk * 32768).astype(np.int16)[: len(talk) // 80 * 80].reshape(-1, 80)
    echo = (frames * 0.1).astype(np.int16)
    blocks = np.zeros(len(frames))
    for i, (mic, played) in enumerate(zip(echo, frames, strict=True)):
        before = time.thread_time_ns()
        hearing.process(mic, played, i * 80)
        blocks[i] = time.thread_time_ns() - before
    share = blocks.sum() / 1e9 / seconds
    p50, p99 = np.percentile(blocks / 1000, [50, 99])
    print(
        f"whole, while the box sounds: {share:.1%} of a core; "
        f"a block p50 {p50:.0f} p99 {p99:.0f} us"
    )
    speech, hop = VoiceActivityDetector(), frames[:3].ravel()
    _timed("speech probability, a hop", lambda: speech.process(np.resize(hop, 256)), 62.5)
    canceller = hearing._front_end.canceller
    _timed("echo canceller, a block", lambda: canceller.cancel_echo(echo[50], frames[50]), 200)


def _timed(name: str, call: Callable[[], object], a_second: float) -> None:
    costs = []
    for _ in range(2000):
        before = time.thread_time_ns()
        call()
        costs.append(time.thread_time_ns() - before)
    p50, p99 = np.percentile(costs, [50, 99]) / 1000
    print(
        f"  {name}: p50 {p50:.0f} p99 {p99:.0f} us, {np.mean(costs) * a_second / 1e9:.2%} of a core"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--words", type=int, default=150, help="recordings to use (150)")
    count = parser.parse_args().words
    spoken = [say(phrase, voice) for phrase in PHRASES for voice in VOICES]
    there = RECORDINGS.is_dir()
    print("Onset, from the sound's true beginning to the block that says so")
    for label, sounds in (("espeak", spoken), ("recorded words", recorded(count) if there else [])):
        if sounds:
            onsets(f"{label}, quiet (-75 dBFS)", sounds, None, -75)
            onsets(f"{label}, quiet (-62 dBFS)", sounds, None, -62)
            onsets(f"{label}, noise -45 dBFS", sounds, None, -45)
            onsets(f"{label}, echo as loud (-26 dBFS)", sounds[:60], -26, -62)
            onsets(f"{label}, echo 6 dB louder", sounds[:60], -20, -62)
    print("\nThe box's own voice, nobody else there")
    for seed, delay_ms in ((0, 40), (11, 55), (12, 15)):
        echo_only(seed, delay_ms, -20, 60)
    if there:
        print("\nNoise, nobody there")
        for noise_db in (-60, -50, -40):
            false_pauses(noise_db)
    print("\nVerdicts over the talking box, echo -20 dBFS")
    talk = answer(120)
    for phrase in BACKCHANNELS + INTERRUPTIONS:
        verdicts(phrase, [say(phrase, v, speed) for v in VOICES for speed in (165, 185)], talk)
    for word in WORDS if there else ():
        files = sorted((RECORDINGS / "words" / word).glob("*.flac"))[:30]
        verdicts(f"recorded: {word}", [trimmed(recording(f)) for f in files], answer(150))
    print("\nCost on this machine")
    cost(20)


if __name__ == "__main__":
    main()
