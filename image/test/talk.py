"""The owner at the other end of the kernel's snd-aloop, run inside the machine. Out: JSON.

snd-aloop's device 0 is the box's sound card. This program is the room at device 1: it reads what
the box plays and writes what the owner says in steps of 10 ms, both by the loop's one clock, so
that all times are counts of frames. It asks a question, says something else during the answer, and
presses the button during the second answer.

Arguments: the folder of the release's Python packages; a JSON file with the owner's speech: name →
[samples in base64, first frame, frame after the last]; the card's name.
"""

from __future__ import annotations

import base64
import json
import sys
import wave
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import alsaaudio
import numpy as np

from appliance.pcm import RATE_HZ, Samples

STEP = RATE_HZ // 100
AHEAD = 6  # steps of the owner's sound that are buffered in the loop: 60 ms
QUIET_S = 0.12  # shorter gaps are inside words
PATIENCE_S = 40.0  # limit until an answer starts
LOUD = 33  # -60 dBFS
LIGHT = {"red": 22, "green": 23, "blue": 24}


@dataclass
class Room:
    """Plays and records, and collects the box's states and lights. Frames count from the start."""

    words: dict[str, tuple[str, int, int]]
    heard: list[Samples] = field(default_factory=list)  # of the box's loudspeaker
    lit: set[str] = field(default_factory=set)  # "STATE red green" in all that was seen
    states: list[tuple[float, str]] = field(default_factory=list)  # of the box, when it changed
    dropouts: int = 0
    _to_say: Samples = field(default_factory=lambda: np.zeros(0, np.int16))

    def __post_init__(self) -> None:
        form = {"rate": RATE_HZ, "channels": 1, "format": alsaaudio.PCM_FORMAT_S16_LE,
                "periodsize": STEP, "periods": 2 * AHEAD,
                "device": f"plughw:CARD={sys.argv[3]},DEV=1"}  # fmt: skip
        self._ear = alsaaudio.PCM(alsaaudio.PCM_CAPTURE, **form)
        self._mouth = alsaaudio.PCM(alsaaudio.PCM_PLAYBACK, **form)
        sims = Path("/sys/devices/platform").glob("gpio-sim*/gpiochip*")
        self._header = next(sims)
        self._mouth.write(np.zeros(AHEAD * STEP, np.int16).tobytes())

    @property
    def now(self) -> int:
        return len(self.heard) * STEP

    def step(self) -> None:
        """Read and write one step of 10 ms."""
        count, data = self._ear.read()
        if count < 0:
            self.dropouts += 1
        sound = np.zeros(STEP, np.int16)
        fresh = np.frombuffer(data, np.int16)[:STEP]
        sound[: len(fresh)] = fresh
        self.heard.append(sound)
        mine, self._to_say = self._to_say[:STEP], self._to_say[STEP:]
        if self._mouth.write(np.pad(mine, (0, STEP - len(mine))).tobytes()) < 0:
            self.dropouts += 1
        if len(self.heard) % 5 == 0:
            self._look()

    def _look(self) -> None:
        now = state()
        if not self.states or self.states[-1][1] != now:
            self.states.append((round(self.now / RATE_HZ, 2), now))
        self.lit.add(f"{now}: {' '.join(self.light()) or 'dark'}")

    def light(self) -> list[str]:
        return [name for name, line in LIGHT.items()
                if (self._header / f"sim_gpio{line}/value").read_text().strip() == "1"]  # fmt: skip

    def press(self, down: bool) -> None:
        (self._header / "sim_gpio17/pull").write_text("pull-down" if down else "pull-up")

    def say(self, which: str) -> tuple[int, int]:
        """Play from now on. Returns the frames at which the speech starts and ends in the room."""
        samples, onset, end = self.words[which]
        begin = self.now + AHEAD * STEP
        self._to_say = np.frombuffer(base64.b64decode(samples), np.int16)
        return begin + onset, begin + end

    def until(self, frame: int) -> None:
        while self.now < frame:
            self.step()

    def sounds(self, begin: int) -> int:
        """The first frame from `begin` on at which the box is heard. Raises TimeoutError."""
        while self.now < begin + PATIENCE_S * RATE_HZ:
            self.step()
            if self.now > begin and (loud := np.flatnonzero(np.abs(self.heard[-1]) > LOUD)).size:
                return self.now - STEP + int(loud[0])
        raise TimeoutError(f"no answer in {PATIENCE_S:g} s; the box is {state()}")

    def silent(self, begin: int, limit_s: float) -> int:
        """The frame from `begin` on at which the box falls silent. Raises TimeoutError."""
        last = begin
        while self.now < begin + limit_s * RATE_HZ:
            self.step()
            loud = np.flatnonzero(np.abs(self.heard[-1]) > LOUD)
            if loud.size and self.now > begin:
                last = self.now - STEP + int(loud[-1]) + 1
            if self.now - last > QUIET_S * RATE_HZ:
                return last
        raise TimeoutError(f"still talking {limit_s:g} s later; the box is {state()}")

    def save(self, path: str) -> None:
        with wave.open(path, "wb") as file:
            file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
            file.writeframes(np.concatenate(self.heard).tobytes())


def state() -> str:
    return str(json.loads(Path("/run/interlude/status.json").read_text())["state"])


def converse(room: Room, took: dict[str, float]) -> None:
    """Hold the conversation. `took` gets the guest's seconds for each named reaction."""

    def note(what: str, frames: int) -> None:
        took[what] = round(frames / RATE_HZ, 3)

    room.until(RATE_HZ)  # the noise floor settles
    _, end = room.say("question")
    answer = room.sounds(end)
    note("question to answer", answer - end)
    room.until(answer + 2 * RATE_HZ)
    onset, end = room.say("change of mind")
    note("change of mind to silence", room.silent(onset, end - onset) - onset)
    room.until(end)
    answer = room.sounds(end)
    note("change of mind to second answer", answer - end)
    room.until(answer + RATE_HZ)
    pressed = room.now
    room.press(True)
    note("button to silence", room.silent(pressed, 3.0) - pressed)
    room.press(False)
    room.until(room.now + 2 * RATE_HZ)


def main() -> int:
    room = Room(json.loads(Path(sys.argv[2]).read_text()))
    problem = ""
    took: dict[str, float] = {}
    try:
        converse(room, took)
    except TimeoutError as error:
        problem = str(error)
    finally:
        room.save("/run/talk.wav")
    print(json.dumps({"took": took, "states": room.states, "lit": sorted(room.lit),
                      "dropouts": room.dropouts, "seconds": room.now / RATE_HZ,
                      "problem": problem}))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
