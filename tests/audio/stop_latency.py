"""Measure the machine's part of the stop latency: python -m tests.audio.stop_latency [--pauses N].

From the deciding sample (a click at the microphone) to the last audible sample (above −60 dBFS)
at the loudspeaker, both read from the software card's tracks. The latency consists of the period
of capture, the reaction through the floor, the samples queued in playback, and the fade.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from appliance.messages.playback import Dropouts
from appliance.pcm import AUDIBLE
from tests.audio.rig import RATE_HZ, Rig, reflex, rig_on

CLICK = 20_000
EVERY = RATE_HZ * 3 // 10  # a pause every 300 ms, held for 150 ms
HELD = RATE_HZ * 15 // 100


def stop_latencies_ms(rig: Rig, pauses: int, seed: int = 1) -> list[float]:
    """Pause a running answer `pauses` times at random moments. Returns the latencies.

    A pause whose click was lost in a dropout of capture, or came in one of playback, is left out.
    """
    rng = np.random.default_rng(seed)
    stop = threading.Event()
    thread = reflex(rig, CLICK, stop)
    rig.floor.turn = 1
    tone = 8000 * np.sin(2 * np.pi * 440 * np.arange(EVERY * (pauses + 4)) / RATE_HZ)
    rig.say(1, tone.astype(np.int16))
    latencies = []
    for _ in range(pauses):
        click = rig.now() + EVERY // 2 + int(rng.integers(0, 80))
        rig.card.add_sound(click - rig.origin, np.array([CLICK], np.int16))
        rig.until(lambda click=click: rig.now() > click + HELD)  # type: ignore[misc]
        if not rig.floor.held:
            continue  # the click was lost in a dropout of capture
        sound = np.abs(rig.track(click, click + HELD).astype(np.int32)) > AUDIBLE
        if sound.any():  # else playback was in a dropout when the click came
            latencies.append(1000 * (int(np.flatnonzero(sound)[-1]) + 1) / RATE_HZ)
        rig.floor.released = rig.floor.hold
    stop.set()
    thread.join()
    return latencies


@contextlib.contextmanager
def hogs(count: int) -> Iterator[None]:
    """Run `count` processes that keep a CPU busy."""
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pauses", type=int, default=100)
    parser.add_argument("--hogs", type=int, default=0)
    parser.add_argument("--periods", type=int, default=0, help="0: as in the settings")
    parser.add_argument("--period-ms", type=int, default=0, help="0: as in the settings")
    parser.add_argument("--reserve-ms", type=int, default=0, help="0: as in the settings")
    wanted = parser.parse_args()
    card = {
        "periods": wanted.periods,
        "period_ms": wanted.period_ms,
        "reserve_ms": wanted.reserve_ms,
    }
    card = {key: value for key, value in card.items() if value}
    with (
        tempfile.TemporaryDirectory() as folder,
        hogs(wanted.hogs),
        rig_on(Path(folder), **card) as rig,
    ):
        times = stop_latencies_ms(rig, wanted.pauses)
        rig.run(0.5)
        dropouts = {m.direction: m.count for m in rig.of(Dropouts)}
    figures = [*np.percentile(times, [50, 95, 99]), max(times)]
    shape = " ".join(
        f"{name} {value:.1f}"
        for name, value in zip(("p50", "p95", "p99", "max"), figures, strict=True)
    )
    print(f"stop, machine part, ms: {shape} (n {len(times)}), dropouts {dropouts or 'none'}")


if __name__ == "__main__":
    main()
