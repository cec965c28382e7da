"""The page's trials on the whole box: real processes, the software card, the page over HTTP."""

from __future__ import annotations

import mmap
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.messages.commands import Say
from appliance.messages.hearing import Onset
from appliance.messages.thinking import Think
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.ipc.ring_handles import HEADER_BYTES, SLOT_HEADER_BYTES
from appliance.runtime.process_table import TRIED, ring
from lab.sim import scene, speech_source
from lab.sim.rehearsal import AHEAD, Rehearsal
from lab.sim.rehearsal_cli import in_the_room
from tests.english import ENGLISH
from tests.page.test_page import Browser, free_port

pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("simcard_library"),
]

PATIENCE_S = 60.0  # on a very busy machine
WORDS = "one two three four five six seven"
PART = RATE_HZ // 2  # samples of a part that is looked for


class TryingOwner(Rehearsal):
    """A rehearsal whose owner uses the page. `steps` are done in place of a script; `more`: of the
    settings."""

    def __init__(self, steps: Callable[[TryingOwner], None], **more: object) -> None:
        page = {"enabled": True, "port": free_port(), "listen": "127.0.0.1"}
        room = {"echo_db": -30, "delay_ms": 40, "rt60_s": 0.3, "noise_db": -66}
        raw: dict[str, object] = {
            "room": room,
            "owner": [{"at_s": 0, "noise": "cough"}],
            "settings": {"page": page, **more},
        }
        parsed = scene.parse(raw, name="test", folder=Path())
        settings = in_the_room(parsed, ENGLISH)
        super().__init__(parsed, settings)
        self._steps = steps
        self.browser = Browser(settings.page.port)

    def _run_script(self) -> None:
        self.until(self.quiet)
        assert self.browser.ask("POST", "/pair/code")[0] == 303
        self.until(lambda: any(self.recording.messages_of(Say)))
        self.until(self.quiet)
        said = [
            say.text for _, say in self.recording.messages_of(Say) if re.search(r"\d", say.text)
        ]
        code = re.sub(r"\D", "", said[-1])
        self.until(self.quiet)
        assert self.browser.ask("POST", "/pair", {"code": code})[0] == 303
        self.until(lambda: self.state is not None and self.state.state == "speaking")
        self.until(self.quiet)  # the box has said that somebody was let in
        self._steps(self)

    def until(self, true: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        end_s = time.monotonic() + patience_s
        while not true():
            assert time.monotonic() < end_s, self.page()
            self._wait(0.1)

    def quiet(self) -> bool:
        """Nothing sounds, and has not for a moment."""
        if self.state is None or self.state.state not in ("idle", "muted"):
            return False
        return self.card.now() > self._state_index + RATE_HZ

    def page(self) -> str:
        return self.browser.ask("GET", "/try")[1]

    def post(self, place: str = "/try", **form: str) -> None:
        token = re.search(r'name="token" value="(\w+)"', self.page())
        assert token
        assert self.browser.ask("POST", place, {"token": token[1], **form})[0] == 303

    def say(self, samples: Samples, after_s: float) -> int:
        """Into the room; returns the card's index of the first sample."""
        at = self.card.now() + AHEAD + round(after_s * RATE_HZ)
        self.card.add_sound(at, samples)
        return at

    def over(self) -> bool:
        """Nothing is tried any more."""
        return 'http-equiv="refresh"' not in self.page()


def memory_of(box: Rehearsal, name: str) -> np.ndarray:
    """All samples that a ring's memory has, whoever reads them."""
    spec = ring(name)
    stride = SLOT_HEADER_BYTES + (spec.frames * 2 + 63) // 64 * 64
    size = HEADER_BYTES + spec.slots * stride
    with mmap.mmap(box.supervisor.rings[name].memory_fd, size, prot=mmap.PROT_READ) as memory:
        rows = np.frombuffer(memory[HEADER_BYTES:], np.uint8).reshape(spec.slots, stride)
        samples = rows[:, SLOT_HEADER_BYTES:][:, : 2 * spec.frames]
        return np.ascontiguousarray(samples).view(np.int16).copy()


def likeness(sound: Samples, track: Samples) -> float:
    """The median over half seconds of `sound` of the best normalised correlation with `track`.

    By half seconds, since a dropout of the loudspeaker moves what follows it.
    """
    heard = track.astype(float)
    energy = np.concatenate([[0.0], np.cumsum(heard**2)])
    found = []
    for part in sound[: len(sound) // PART * PART].reshape(-1, PART).astype(float):
        size = len(heard) + PART
        spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(part, size))
        product = np.fft.irfft(spectrum, size)[: len(heard) - PART + 1]
        loud = energy[PART:] - energy[:-PART]
        scale = np.sqrt(np.maximum(loud, 1.0)) * np.linalg.norm(part)
        found.append(float((product / scale).max()))
    return float(np.median(found))


def test_three_seconds_are_heard_again_answer_nothing_and_are_gone() -> None:
    wave = speech_source.spoken(WORDS, "en-us", 165, 50)
    sound = speech_source.at_level(wave, -24.0).samples[: 2 * RATE_HZ]
    found: dict[str, object] = {}

    def steps(box: TryingOwner) -> None:
        found["before"] = before = box.card.now()
        box.post(do="sound", kind="microphone")
        box.say(sound, after_s=0.4)
        box.until(lambda: "dBFS" in box.page())
        found["tried"] = memory_of(box, TRIED)
        box.until(box.over)
        box.until(box.quiet)
        box.until(lambda: not memory_of(box, TRIED).any())
        box.until(lambda: not memory_of(box, "voice").any())
        frames = box.card.now() - before
        found["played"] = box.card.loudspeaker(before, frames)
        found["page"] = box.page()
        box.post("/do", do="mute", back="/try")
        box.until(lambda: box.state is not None and box.state.state == "muted")
        box.post(do="sound", kind="microphone")
        box.until(lambda: "The microphone is off" in box.page())

    box = TryingOwner(steps)
    recording = box.play()
    played, tried, before = found["played"], found["tried"], found["before"]
    assert isinstance(before, int)
    assert isinstance(played, np.ndarray)
    assert isinstance(tried, np.ndarray)
    assert tried.any()
    assert likeness(sound, played) > 0.98
    assert likeness(sound[::-1], played) < 0.5, "the measure tells another sound"
    assert "The level is right" in str(found["page"])
    for kind in (Think, Onset):
        since = [one for at, one in recording.messages_of(kind) if at >= before]
        assert since == [], "nothing of it was said to the box"


def test_echo_health_tells_what_the_canceller_does_in_this_room_and_the_tone_can_be_stopped() -> (
    None
):
    found: dict[str, str] = {}

    def steps(box: TryingOwner) -> None:
        box.post(do="sound", kind="echo")
        box.until(lambda: "Levels in dBFS" in box.page())
        found["echo"] = box.page()
        box.until(box.quiet)
        box.post(do="sound", kind="tone")
        box.until(lambda: box.state is not None and box.state.state == "speaking")
        box._wait(1.0)
        box.post(do="stop")
        box.until(box.over)
        stopped = box.card.now() + RATE_HZ // 5  # what the card had queued sounds on
        box._wait(1.0)
        assert not box.card.loudspeaker(stopped, box.card.now() - stopped).any()

    TryingOwner(steps).play()
    taken = re.search(r"<b>(-?\d+) dB</b>", found["echo"])
    assert taken, found["echo"]
    assert int(taken[1]) >= 12
    assert "no obstacle" in found["echo"] or "Fair:" in found["echo"]
    heard = [int(level) for level in re.findall(r"<td>(-?\d+)</td>", found["echo"])]
    assert all(-100 <= level < 0 for level in heard)
