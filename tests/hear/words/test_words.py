"""The process `words` with a real ring and mail; the test plays the listener and the conductor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from appliance import settings
from appliance.hear.words.backends import words_wanted
from appliance.hear.words.feed import KeywordFeed
from appliance.messages.commands import BoxStatus
from appliance.messages.hearing import WakeWordHeard, WordsHeard
from appliance.pcm import RATE_HZ, Samples, from_float
from appliance.runtime.ipc.ring import RingWriter
from appliance.settings import Settings
from tests.hear.arena import at_level, say
from tests.supervised import SupervisedPart

pytestmark = pytest.mark.process


INDEX = 5_000_000
QUIET = np.zeros(RATE_HZ // 2)


class Box(SupervisedPart):
    """The process `words` under the real supervisor."""

    def __init__(self, plain: Settings) -> None:
        super().__init__("words", plain)
        self.ring = RingWriter(self.supervisor.rings["near"])
        self.near = KeywordFeed()
        self.index = INDEX
        self.supervisor.start()
        self.until(lambda: self.supervisor.is_ready)

    def all_read(self) -> bool:
        return self.ring._words[self.ring._taken("words")] == self.ring._next

    def feed(self, sound: Samples, turn: int) -> None:
        """Write `sound` as the listener does, but as fast as the ring takes it."""
        for at in range(0, len(sound) - 79, 80):
            for piece in self.near.process(sound[at : at + 80], self.index, turn):
                self.ring.write(piece.samples, index=piece.at, stream=piece.turn, flags=piece.flags)
            self.index += 80


@pytest.fixture
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    with Box(settings.load(overrides=request.param)) as box:
        yield box


def spoken(text: str) -> Samples:
    wave = at_level(say(text, speed=150))
    noise = np.random.default_rng(0).normal(0, 3e-4, len(wave))
    return from_float(wave + noise)


@pytest.mark.parametrize("box", [{}], indirect=True)
def test_a_word_over_the_box_is_reported(box: Box) -> None:
    box.near.busy = True
    box.feed(from_float(QUIET), 0)
    box.feed(spoken("be quiet"), 41)
    box.feed(from_float(QUIET), 0)
    box.until(box.all_read)
    box.until(lambda: any(isinstance(m, WordsHeard) for m in box.messages))
    last_word = [m for m in box.messages if isinstance(m, WordsHeard)][-1]
    assert (last_word.serial, last_word.text, last_word.kind) == (41, "be quiet", "stop")


@pytest.mark.parametrize("box", [{"mode": "wake_word"}], indirect=True)
def test_the_wake_word_is_reported_in_wake_word_mode_only(box: Box) -> None:
    box.near.waiting = True
    box.feed(from_float(QUIET), 0)
    box.feed(spoken("okay nahboo"), 0)
    end = box.index
    box.feed(from_float(QUIET), 0)
    box.until(lambda: bool(box.messages))
    [woken] = box.messages
    assert isinstance(woken, WakeWordHeard)
    assert woken.phrase == "okay nabu"
    assert abs(woken.index - end) < RATE_HZ // 2

    box.mail.send(BoxStatus(mode="open", muted=False, volume=1.0))
    box.feed(spoken("okay nahboo"), 0)
    box.feed(from_float(QUIET), 0)
    box.until(box.all_read)
    box.mail.send(BoxStatus(mode="wake_word", muted=False, volume=1.0))
    box.feed(from_float(QUIET), 0)
    box.feed(spoken("okay nahboo"), 0)
    box.feed(from_float(QUIET), 0)
    box.until(lambda: len(box.messages) > 1)
    assert len(box.messages) == 2


def test_the_process_runs_only_if_a_recogniser_or_the_wake_word_is_in_use() -> None:
    def runs(overrides: dict[str, object]) -> bool:
        return words_wanted(settings.load(overrides=overrides))

    assert runs({"hearing": {"words": {"recogniser": "pocketsphinx"}}})
    assert runs({"mode": "wake_word", "hearing": {"words": {"recogniser": "none"}}})
    assert not runs({"hearing": {"words": {"recogniser": "none"}}})
