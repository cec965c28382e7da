"""`interlude bench panel`: latency from a press to silence, and from a state to the light.

The pins are gpiozero's mock pins behind the keyboard panel's socket, so the kernel's GPIO is not in
these figures; the panel's process, the floor and playback are the real ones.
"""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import numpy as np

from appliance.messages.commands import StateChanged
from appliance.panel.keyboard_socket import HELLO, NAME
from appliance.pcm import AUDIBLE, RATE_HZ, Samples
from lab.bench.benches import SPREAD, BenchOptions, FigureTable, spread
from lab.bench.harness import QUIET, WITHOUT_THINKER, BenchHarness
from lab.sim.rehearsal_cli import load_over

PRESSES = 40
MS = RATE_HZ // 1000
SOUNDING = 300  # least RMS of the 30 ms before a press, else it fell into a pause between words
LATE_S = 1.0  # a later change of the light belongs to another change of state
TARGET_STOP_MS, TARGET_LIGHT_MS = 30, 50


class ButtonPresser:
    """Presses the mock button and records the light: (CLOCK_MONOTONIC in ns, pattern's name) of
    every frame."""

    def __init__(self, panel: Path) -> None:
        self.frames: list[tuple[int, str]] = []
        self._panel = str(panel)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("")  # an abstract address chosen by the kernel
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()
        self.push(HELLO)

    def push(self, word: str) -> int:
        """Send a word to the panel. Returns the time just before, CLOCK_MONOTONIC in ns."""
        at_ns = time.monotonic_ns()
        self._socket.sendto(word.encode(), self._panel)
        return at_ns

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _receive(self) -> None:
        while frame := self._socket.recv(64):
            self.frames.append((time.monotonic_ns(), frame.decode().split()[0]))


def bench(options: BenchOptions) -> list[FigureTable]:
    """Raises CardError if the box does not start or does not speak."""
    presses = options.events or PRESSES
    panel = {"gpio": "keyboard", "mute_switch": False}
    settings = load_over(options.settings, {"mode": "open", "panel": panel})
    rng = np.random.default_rng(options.seed)
    stops: list[float] = []
    lights: list[float] = []
    left_out = 0

    def act(stage: BenchHarness) -> None:
        nonlocal left_out
        presser = ButtonPresser(stage.state_dir / NAME)
        stage.wait(0.2)
        watched_ns = time.monotonic_ns()  # earlier changes were not recorded
        for _ in range(presses):
            stage.start_talking()
            stage.wait(float(rng.uniform(0.0, 0.5)))
            at = stage.card.index_of(presser.push("press"))
            stage.wait(0.15)
            presser.push("release")
            stage.wait(0.5)
            track = stage.card.loudspeaker(at - 30 * MS, 330 * MS)
            stop = stop_ms(track, 30 * MS)
            if stop is None:
                left_out += 1
            else:
                stops.append(stop)
        all_changes = {
            (m.at_ns, str(m.state)) for _, m in stage.recording.messages_of(StateChanged)
        }
        changes = sorted(change for change in all_changes if change[0] > watched_ns)
        lights.extend(light_ms(changes, presser.frames))
        presser.close()

    BenchHarness(QUIET, settings, act, parts=(*WITHOUT_THINKER, "panel")).play()
    sheet = FigureTable("The panel on mock pins, ms", ("from → to", *SPREAD, "target p99"))
    sheet.rows.append(("press → last audible sample", *spread(stops), TARGET_STOP_MS))
    sheet.rows.append(("state changes → light", *spread(lights), TARGET_LIGHT_MS))
    sheet.notes.append(f"{left_out} presses fell between two words and are left out.")
    sheet.notes.append("Mock pins: the kernel's GPIO is not included. Not run on a Pi.")
    sheet.events = [{"stop_ms": value} for value in stops] + [{"light_ms": v} for v in lights]
    return [sheet]


def stop_ms(track: Samples, press: int) -> float | None:
    """ms from sample `press` of the loudspeaker's track to the last audible one after it.

    None if nothing was audible right before the press; infinite if the track never falls silent.
    """
    before = track[:press].astype(np.float64)
    if np.sqrt(np.mean(before**2)) < SOUNDING:
        return None
    loud = np.flatnonzero(np.abs(track[press:].astype(np.int32)) > AUDIBLE)
    if not len(loud):
        return 0.0
    last = int(loud[-1]) + 1
    return float("inf") if last > len(track) - press - 20 * MS else last / MS


def light_ms(changes: list[tuple[int, str]], frames: list[tuple[int, str]]) -> list[float]:
    """ms from each change of state to the first frame of that name. Left out are states that lasted
    less than 100 ms, and states without such a frame in time."""
    found = []
    for number, (at_ns, state) in enumerate(changes):
        until_ns = at_ns + int(LATE_S * 1e9)
        if number + 1 < len(changes) and changes[number + 1][0] - at_ns < 100_000_000:
            continue
        shown = [t for t, name in frames if name == state and at_ns <= t < until_ns]
        if shown:
            found.append((shown[0] - at_ns) / 1e6)
    return found
