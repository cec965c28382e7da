"""Which voices can actually speak: each is tried once, while the box is silent."""

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
    """The installed voices and a simulated clock."""

    def __init__(self) -> None:
        self.commands: dict[str, tuple[str, ...]] = {}
        self.now_s = 1000.0
        self.looks = 0
        self.tried = VoiceAvailability(self.look, lambda: self.now_s)

    def look(self) -> VoiceCommands:
        self.looks += 1
        return dict(self.commands)


def poll_until(disk: Disk, true: Callable[[], object]) -> None:
    limit_s = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < limit_s
        if (fd := disk.tried.fileno()) >= 0:
            select.select([fd], [], [], 0.02)
        disk.tried.poll([], busy=False)


@pytest.mark.process
def test_a_working_voice_is_offered_and_a_failing_one_is_retried_later(
    tmp_path: Path,
) -> None:
    disk = Disk()
    good = engine(tmp_path / "good", SAYS_IT).command(Path("no.onnx"))
    disk.commands = {"bad": ("/bin/false",), "good": good}
    poll_until(disk, lambda: disk.tried.names == ("good",))
    disk.tried.poll([], busy=False)
    assert disk.tried.fileno() == -1  # no trial is running
    disk.now_s += RETRY_S + 1
    disk.tried.poll([], busy=False)
    assert disk.tried.names == ("good",)
    assert disk.tried.fileno() != -1  # the bad voice is tried again
    disk.tried.close()


def test_no_voice_is_tried_while_the_box_speaks() -> None:
    disk = Disk()
    disk.commands = {"anna": ("/bin/false",)}
    disk.tried.poll([], busy=True)
    assert (disk.tried.names, disk.tried.fileno()) == ((), -1)


def test_a_ready_voice_and_espeak_need_no_trial() -> None:
    disk = Disk()
    disk.commands = {"anna": ("/bin/false",)}
    voices: list[Voice] = [FakeVoice("anna"), FakeVoice("espeak")]
    disk.tried.poll(voices, busy=False)
    assert disk.tried.names == ("anna", "espeak")
    assert disk.tried.fileno() == -1


@pytest.mark.process
def test_a_loading_voice_is_not_started_a_second_time() -> None:
    disk, anna = Disk(), FakeVoice("anna")
    disk.commands, anna.ready = {"anna": ("/bin/false",)}, False
    disk.tried.poll([anna], busy=False)
    assert (disk.tried.names, disk.tried.fileno()) == ((), -1)
    anna.problem = "It failed."
    disk.tried.poll([anna], busy=False)
    assert disk.tried.fileno() != -1
    disk.tried.close()


def test_the_installed_voices_are_scanned_periodically() -> None:
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
