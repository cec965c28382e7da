"""Requests of the panel are carried out once, and a box that does not answer blocks nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.cli.provision import (
    BAD_SEED,
    CARD_S,
    SetupAnnouncer,
    note,
    pop_request,
    read_request,
    reset,
)
from appliance.errors import StorageError
from appliance.language.catalogue import english
from appliance.messages.commands import Restart, Say
from appliance.messages.registry import Message
from appliance.panel import power_on_hold
from appliance.panel.power_on_hold import WANTED_SETUP
from appliance.provision.apply_seed import ProvisionTarget
from appliance.provision.first_start import ProvisionResult
from appliance.provision.setup_sentences import card_says
from appliance.runtime.status import SupervisorStatus
from appliance.settings import load
from tests import skips
from tests.provision.ground import shipped


@pytest.mark.process
def test_the_program_that_root_runs_at_each_boot_imports_no_bluetooth_and_no_server() -> None:
    look = (
        "import sys, appliance.cli.provision;"
        "print({'dbus_fast', 'asyncio', 'appliance.page.http_server'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.fixture
def ground(tmp_path: Path) -> ProvisionTarget:
    return shipped(tmp_path)


@pytest.mark.parametrize(
    ("note", "expected"), [("setup", "setup"), ("reset\n", "reset"), ("rm -rf", ""), (None, "")]
)
def test_a_request_is_read_and_stays_until_it_is_fulfilled(
    tmp_path: Path, note: str | None, expected: str
) -> None:
    if note is not None:
        (tmp_path / WANTED_SETUP).write_text(note)
    assert read_request(tmp_path) == expected
    assert read_request(tmp_path) == expected


def link(at: Path) -> None:
    (at.parent / "elsewhere").write_text("reset")
    at.symlink_to(at.parent / "elsewhere")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "lay",
    [os.mkfifo, Path.mkdir, link, lambda at: at.write_bytes(b"\xff\xfe"),
     lambda at: at.write_bytes(b"reset".ljust(1 << 20))],
    ids=["FIFO", "folder", "link", "bytes", "large"],
)  # fmt: skip
def test_an_invalid_request_is_ignored_without_blocking(
    tmp_path: Path, lay: Callable[[Path], object]
) -> None:
    lay(tmp_path / WANTED_SETUP)
    assert read_request(tmp_path) == ""


def test_the_panel_writes_its_request_where_it_is_read(tmp_path: Path) -> None:
    assert power_on_hold.write_request("setup", tmp_path)
    assert read_request(tmp_path) == "setup"


class Spoken(SetupAnnouncer):
    """A box that can be reached from `opens_s` on, restarts by itself at `ends_s` and speaks for
    five seconds. Its clock advances while the announcer sleeps."""

    def __init__(self, opens_s: float = 0.0, ends_s: float = -1.0) -> None:
        self.time_s, self.opens_s, self.ends_s = 0.0, opens_s, ends_s
        self.sent: list[tuple[float, Message]] = []
        super().__init__(lambda: load(None), self.status, lambda: self.time_s, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds

    def status(self) -> SupervisorStatus:
        ended = 0 <= self.ends_s <= self.time_s
        talks = any(isinstance(m, Say) and self.time_s < at + 5 for at, m in self.sent)
        return SupervisorStatus(pid=2 if ended else 1, state="speaking" if talks else "idle")

    def send(self, message: Message) -> bool:
        if self.time_s >= self.opens_s:
            self.sent.append((self.time_s, message))
            return True
        return False

    @property
    def messages(self) -> list[Message]:
        return [message for _, message in self.sent]


SENTENCE = Say(english().say("reset-card-incomplete"), chime=True)


def stubborn(ground: ProvisionTarget) -> None:
    # The folder that should hold the owner's ssh key is a link.
    (ground.root / "root").symlink_to(ground.keep)
    (ground.keep / ".ssh").mkdir()
    (ground.keep / ".ssh/authorized_keys").touch()


def test_an_incomplete_reset_is_announced_and_a_complete_one_is_silent(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    voice = Spoken()
    reset(voice, ground, tmp_path)
    assert voice.messages == [Restart()]
    stubborn(ground)
    reset(voice, ground, tmp_path)
    assert "Do not give it away" in SENTENCE.text
    assert voice.messages[1:] == [SENTENCE, Restart()]


@pytest.mark.parametrize("left", [False, True])
def test_a_starting_box_is_notified_of_a_reset_when_it_listens(
    ground: ProvisionTarget, tmp_path: Path, *, left: bool
) -> None:
    if left:
        stubborn(ground)
    voice = Spoken(opens_s=100)
    reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, Restart()][not left :]


@pytest.mark.parametrize("left", [False, True])
def test_an_unreachable_box_ends_the_wait(
    ground: ProvisionTarget, tmp_path: Path, *, left: bool
) -> None:
    if left:
        stubborn(ground)
    voice = Spoken(opens_s=1e9)
    reset(voice, ground, tmp_path)
    assert 180 <= voice.time_s < 400


def test_the_box_restarts_only_after_the_sentence_is_spoken(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    stubborn(ground)
    voice = Spoken()
    reset(voice, ground, tmp_path)
    (said_s, _), (restart_s, _) = voice.sent
    assert said_s + 5 <= restart_s < said_s + 10


def test_the_sentence_is_repeated_if_the_box_restarts_before_its_end(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    stubborn(ground)
    voice = Spoken(ends_s=2)
    reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, SENTENCE, Restart()]


@pytest.mark.process
def test_a_reset_whose_request_cannot_be_deleted_restarts_the_box_once_and_waits(
    ground: ProvisionTarget, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The state on a card that became read-only: the request stays, and the path unit starts its
    service again."""
    waits: list[float] = []
    voice, memory, request_folder = Spoken(), tmp_path / "memory", tmp_path / "wishes"
    memory.mkdir()
    request_folder.mkdir()
    power_on_hold.write_request("reset", request_folder)
    bind = ["mount", "--bind", "-o", "ro", str(request_folder), str(request_folder)]
    if subprocess.run(bind, check=False, capture_output=True).returncode != 0:
        pytest.skip(skips.MOUNTS)
    try:
        for _ in range(3):
            with pytest.raises(StorageError, match="cannot be removed"):
                pop_request(voice, ground, memory, request_folder, waits.append)
    finally:
        subprocess.run(["umount", str(request_folder)], check=True)
    assert waits == [CARD_S] * 3  # the path unit starts the service again at once
    assert capsys.readouterr().out.count("<3>The request of a reset cannot be deleted") == 3
    assert voice.messages == [Restart()]
    assert pop_request(voice, ground, memory, request_folder) == "reset"
    assert voice.messages == [Restart()]
    assert pop_request(voice, ground, memory, request_folder) == ""
    power_on_hold.write_request("reset", request_folder)
    assert pop_request(voice, ground, memory, request_folder) == "reset"
    assert voice.messages == [Restart()] * 2, "a second reset restarts the box again"


def test_a_repeated_reset_with_another_result_is_announced(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    stubborn(ground)
    voice = Spoken()
    for _ in range(3):
        reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, Restart()]
    (ground.root / "root").unlink()  # removes the obstacle
    reset(voice, ground, tmp_path)
    reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, Restart(), Restart()]


def test_an_unreachable_box_is_no_error(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path)})
    assert not SetupAnnouncer(lambda: settings).speak("I have no network.")


def test_a_misnamed_seed_is_logged_and_announced_with_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note(ProvisionResult(misnamed="interlude.yaml.txt"), tmp_path)
    text = (tmp_path / BAD_SEED).read_text()
    assert "interlude.yaml.txt on the card is not read. Put what it says into" in text
    assert capsys.readouterr().out == f"<4>The card's seed was not used: {text}\n"
    assert "interlude dot yaml dot txt on the card is not read" in card_says(text, english())
    note(ProvisionResult(problem="interlude.yaml is no text.", misnamed="interlude.yml"), tmp_path)
    both = (tmp_path / BAD_SEED).read_text()
    assert "interlude.yaml is no text." in both
    assert "interlude.yml on the card is not read" in both


def test_a_card_without_a_problem_leaves_no_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note(ProvisionResult(problem="interlude.yaml is no text."), tmp_path)
    capsys.readouterr()
    note(ProvisionResult(seeded=("etc/hostname",)), tmp_path)
    assert not (tmp_path / BAD_SEED).exists()
    assert capsys.readouterr().out == ""
