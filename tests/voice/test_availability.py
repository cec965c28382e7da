"""Which voices can really speak: each is tried once, while the box says nothing."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.voice.availability import RETRY_S, SCAN_S, VoiceAvailability, VoiceCommands
from appliance.voice.interface import Voice
from appliance.voice.program import ProgramVoice
from tests.voice.fakes import FakeVoice
from tests.voice.programs import SAYS_IT, engine

LIMIT_S = 20.0


class Disk:
    """The voices that are here, and a clock of its own."""

    def __init__(self) -> None:
        self.commands: dict[str, tuple[str, ...]] = {}
        self.now_s = 1000.0
        self.looks = 0
        self.tried = VoiceAvailability(self.look, lambda: self.now_s)

    def look(self) -> VoiceCommands:
        self.looks += 1
        return dict(self.commands)


def go_on(disk: Disk, true: Callable[[], object]) -> None:
    limit_s = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < limit_s
        if (fd := disk.tried.fileno()) >= 0:
            select.select([fd], [], [], 0.02)
        disk.tried.poll([], busy=False)


@pytest.mark.process
def test_one_that_speaks_is_offered_and_one_that_does_not_is_tried_again_much_later(
    tmp_path: Path,
) -> None:
    disk = Disk()
    good = engine(tmp_path / "good", SAYS_IT).command(Path("no.onnx"))
    disk.commands = {"bad": ("/bin/false",), "good": good}
    go_on(disk, lambda: disk.tried.names == ("good",))
    disk.tried.poll([], busy=False)
    assert disk.tried.fileno() == -1  # nothing is tried any more
    disk.now_s += RETRY_S + 1
    disk.tried.poll([], busy=False)
    assert disk.tried.names == ("good",)
    assert disk.tried.fileno() != -1  # the bad one, again
    disk.tried.close()


def test_while_the_box_talks_nothing_is_tried() -> None:
    disk = Disk()
    disk.commands = {"anna": ("/bin/false",)}
    disk.tried.poll([], busy=True)
    assert (disk.tried.names, disk.tried.fileno()) == ((), -1)


def test_a_voice_that_is_loaded_and_ready_needs_no_trial_and_espeak_none_at_all() -> None:
    disk = Disk()
    disk.commands = {"anna": ("/bin/false",)}
    voices: list[Voice] = [FakeVoice("anna"), FakeVoice("espeak")]
    disk.tried.poll(voices, busy=False)
    assert disk.tried.names == ("anna", "espeak")
    assert disk.tried.fileno() == -1


@pytest.mark.process
def test_a_voice_that_is_still_loading_is_not_started_a_second_time() -> None:
    disk, anna = Disk(), FakeVoice("anna")
    disk.commands, anna.ready = {"anna": ("/bin/false",)}, False
    disk.tried.poll([anna], busy=False)
    assert (disk.tried.names, disk.tried.fileno()) == ((), -1)
    anna.problem = "It failed."
    disk.tried.poll([anna], busy=False)
    assert disk.tried.fileno() != -1
    disk.tried.close()


def test_what_lies_there_is_looked_at_now_and_then() -> None:
    disk = Disk()
    for _ in range(5):
        disk.tried.poll([], busy=True)
    assert disk.looks == 1
    disk.now_s += SCAN_S
    disk.tried.poll([], busy=True)
    assert disk.looks == 2


@pytest.mark.process
def test_a_voice_whose_program_was_replaced_is_named() -> None:
    disk = Disk()
    before = ProgramVoice("anna", ("/bin/false",))
    disk.commands = {"anna": ("/bin/true",)}
    disk.tried.poll([before], busy=True)
    assert disk.tried.replaced([FakeVoice("anna"), before]) == "anna"
    disk.commands = {"anna": before.command}
    disk.now_s += SCAN_S
    disk.tried.poll([before], busy=True)
    assert disk.tried.replaced([before]) == ""
    before.close()
