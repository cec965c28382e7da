"""A box in a container with a simulated owner who talks to it, and observers of its state.

The owner's voice goes to the microphone of the software sound card. The box's state is read from
its status file a hundred times a second, its processes from /proc of this machine.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import psutil
import soxr

from appliance.errors import CardError
from appliance.pcm import RATE_HZ, Samples
from image.test import boxes, real
from image.test.boxes import Box
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from lab.sim import speech_source
from lab.sim.simulated_card import SoundCard

ID = "lives"
STATE = "var/lib/interlude"
TITLE = "interlude: "
HEARING = ("listening", "holding")
LOOK_S = 0.01
QUESTIONS = ("what time is it", "tell me a story", "what can you do", "hello", "count to ten")
PROBE = "hello"
QUIET_S = 3.0
PROBE_EVERY_S = 1.0
SETTINGS = {
    **real.SETTINGS,
    "link": {"broker": f"{boxes.NETWORK}.1", "id": ID, "interval_s": 30},
    "panel": {"gpio": "keyboard"},
}


@dataclass(frozen=True)
class Look:
    """The status file at one moment of CLOCK_MONOTONIC; `pid` is 0 if there is none."""

    at_s: float
    pid: int = 0
    state: str = ""
    ready: bool = False


@dataclass
class Talker:
    """The owner, in a thread.

    "asks" plays questions with pauses between them, "probes" repeats a short word, to find out when
    the box hears again, and "silent" plays nothing.
    """

    card: SoundCard
    chance: random.Random
    does: Literal["asks", "probes", "silent"] = "asks"
    said: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._sounds = {text: _sound(text, self.card.rate_hz) for text in (*QUESTIONS, PROBE)}
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _talk(self) -> None:
        while not self._over.is_set():
            does = self.does
            if does == "silent":
                self._over.wait(0.02)
                continue
            sound = self._sounds[self.chance.choice(QUESTIONS) if does == "asks" else PROBE]
            with contextlib.suppress(CardError):  # too late on a busy machine: skip this one
                self.card.add_sound(self.card.now() + self.card.rate_hz // 20, sound)
                self.said += 1
            pause_s = self.chance.uniform(0.3, 4.0) if does == "asks" else 0.0
            until_s = time.monotonic() + len(sound) / self.card.rate_hz + pause_s
            least_s = time.monotonic() + PROBE_EVERY_S
            while time.monotonic() < max(until_s, least_s) and self.does == does:
                if self._over.wait(0.02):
                    return


def _sound(text: str, rate_hz: int) -> Samples:
    spoken = speech_source.at_level(
        speech_source.spoken(text, "en-us", 165, 50), speech_source.SPEECH_DB
    )
    wave = soxr.resample(spoken.samples.astype(np.float32), RATE_HZ, rate_hz)
    samples: Samples = np.clip(wave, -32768, 32767).astype(np.int16)
    return samples


class Kitchen:
    """Box, sound card, broker and owner. Reading the state starts no process in the box."""

    def __init__(self, box: Box, card: SoundCard, ear: BrokerObserver, seed: int) -> None:
        self.box, self.card, self.ear = box, card, ear
        self.talker = Talker(card, random.Random(seed))  # noqa: S311  # not a secret
        self.looks: list[Look] = []  # one for each change
        self.first = self._first_process()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self.talker.close()

    def _first_process(self) -> int:
        """The container's first process, by its process id on this machine."""
        runs = self.box.runs
        children = Path(f"/proc/{runs}/task/{runs}/children").read_text().split()
        return int(children[0])

    def at(self, path: str) -> Path:
        """The path on this machine of a path in the box, file systems in memory included."""
        return Path(f"/proc/{self.first}/root", path)

    def parts(self) -> dict[str, int]:
        """The service's processes: name in the title → process id on this machine."""
        found = {}
        for process in psutil.Process(self.first).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                title = process.cmdline()[:1]
                if title and title[0].startswith(TITLE) and process.status() != "zombie":
                    found[title[0].removeprefix(TITLE)] = process.pid
        return found

    def inside(self, *command: str) -> str:
        """Run a program in the box as root and return its output."""
        enter = ("nsenter", "-t", str(self.first), "-a", "--")
        done = subprocess.run([*enter, *command], capture_output=True, text=True, check=False,
                              timeout=300)  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stdout[-500:]}{done.stderr[-1500:]}"
        return done.stdout

    def unit(self) -> dict[str, str]:
        """systemd's properties of the service."""
        keys = "ActiveState,SubState,Result,NRestarts,InvocationID,MainPID"
        said = self.inside("systemctl", "show", "interlude.service", f"--property={keys}")
        return dict(re.findall(r"^(\w+)=(.*)$", said, re.MULTILINE))

    def turns(self) -> dict[int, tuple[object, ...]]:
        """All rows of the memory, by turn."""
        file = self.box.root / STATE / "memory/memory.db"
        if not file.exists():
            return {}
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as memory:
            return {row[0]: row[1:] for row in memory.execute("SELECT * FROM turns")}

    def log(self, since_s: float) -> list[str]:
        """The service's lines since a moment of CLOCK_MONOTONIC."""
        ago_s = time.monotonic() - since_s + 1
        words = ("journalctl", "-u", "interlude", "-o", "cat", "--no-pager",
                 "--since", f"-{ago_s:.0f}s")  # fmt: skip
        return self.inside(*words).splitlines()

    def look(self) -> Look:
        now_s = time.monotonic()
        try:
            said = json.loads(self.at("run/interlude/status.json").read_bytes())
        except (OSError, ValueError):
            return Look(now_s)
        return Look(now_s, said["pid"], said["state"], said["ready"])

    def _watch(self) -> None:
        last = Look(0.0)
        while not self._over.wait(LOOK_S):
            now = self.look()
            if (now.pid, now.state, now.ready) != (last.pid, last.state, last.ready):
                self.looks.append(now)
                last = now

    def now(self) -> Look:
        return self.looks[-1] if self.looks else Look(time.monotonic())

    def hears(self, since_s: float) -> float | None:
        """The first time after `since_s` at which it began to listen to speech; None if not yet."""
        for before, after in zip(self.looks, self.looks[1:], strict=False):
            if after.at_s > since_s and after.state in HEARING and before.state not in HEARING:
                return after.at_s
        return None

    def until(self, true: Callable[[], object], limit_s: float, what: str) -> float:
        """Wait until `true()` and return the seconds. AssertionError names `what` on a timeout."""
        began_s = time.monotonic()
        while not true():
            took_s = time.monotonic() - began_s
            assert took_s < limit_s, f"{what}: not within {limit_s:g} s; the box is {self.now()}"
            time.sleep(LOOK_S)
        return time.monotonic() - began_s

    def settled(self, limit_s: float = 60.0) -> None:
        """Wait until every part is up."""
        self.until(lambda: self.now().ready and len(self.parts()) > 8, limit_s, "all parts up")

    def quiet(self) -> bool:
        """Whether the box has been idle or muted for QUIET_S."""
        now = self.now()
        return now.state in {"idle", "muted"} and time.monotonic() - now.at_s > QUIET_S

    def muted(self) -> bool:
        return self.now().state == "muted"

    def mute(self, on: bool) -> None:
        """Mute or unmute over MQTT, and wait until the status shows it."""
        self.ear.publish(f"interlude/{ID}/set/mute", "ON" if on else "OFF")
        self.until(lambda: self.muted() == on, 20.0, f"mute {on}")


@contextlib.contextmanager
def kitchen(box: Box, card: SoundCard, folder: Path, seed: int = 1) -> Iterator[Kitchen]:
    """A broker at the house's address, an observer of it, and the owner.

    The box must run; the service on it may be installed later.
    """
    house = folder / "house"
    house.mkdir(exist_ok=True)
    at_the_bridge = ("allow_anonymous true", f"listener 1883 {boxes.NETWORK}.1")
    with Mosquitto(house, options=at_the_bridge) as broker, BrokerObserver(broker.port) as ear:
        made = Kitchen(box, card, ear, seed)
        try:
            yield made
        finally:
            made.close()
