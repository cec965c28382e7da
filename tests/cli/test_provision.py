"""What the panel asks for is done once, and a box that does not answer stops nothing."""

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
def test_what_root_calls_at_each_start_loads_nothing_of_bluetooth() -> None:
    look = "import sys, appliance.cli.provision; print('dbus_fast' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.fixture
def ground(tmp_path: Path) -> ProvisionTarget:
    return shipped(tmp_path)


@pytest.mark.parametrize(
    ("note", "meant"), [("setup", "setup"), ("reset\n", "reset"), ("rm -rf", ""), (None, "")]
)
def test_a_wish_is_understood_and_stays_until_it_is_fulfilled(
    tmp_path: Path, note: str | None, meant: str
) -> None:
    if note is not None:
        (tmp_path / WANTED_SETUP).write_text(note)
    assert read_request(tmp_path) == meant
    assert read_request(tmp_path) == meant


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
def test_what_is_no_wish_is_none_and_is_waited_for_by_nobody(
    tmp_path: Path, lay: Callable[[Path], object]
) -> None:
    lay(tmp_path / WANTED_SETUP)
    assert read_request(tmp_path) == ""


def test_the_panel_leaves_its_wish_where_it_is_looked_for(tmp_path: Path) -> None:
    assert power_on_hold.write_request("setup", tmp_path)
    assert read_request(tmp_path) == "setup"


class Spoken(SetupAnnouncer):
    """A box that is reached from `opens_s` on, starts anew at `ends_s` by itself, and speaks for
    five seconds. Its clock is the one of who waits."""

    def __init__(self, opens_s: float = 0.0, ends_s: float = -1.0) -> None:
        self.time_s, self.opens_s, self.ends_s = 0.0, opens_s, ends_s
        self.told: list[tuple[float, Message]] = []
        super().__init__(lambda: load(None), self.stands, lambda: self.time_s, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds

    def stands(self) -> SupervisorStatus:
        ended = 0 <= self.ends_s <= self.time_s
        talks = any(isinstance(m, Say) and self.time_s < at + 5 for at, m in self.told)
        return SupervisorStatus(pid=2 if ended else 1, state="speaking" if talks else "idle")

    def send(self, message: Message) -> bool:
        if self.time_s >= self.opens_s:
            self.told.append((self.time_s, message))
            return True
        return False

    @property
    def messages(self) -> list[Message]:
        return [message for _, message in self.told]


SENTENCE = Say(english().say("reset-card-incomplete"), chime=True)


def stubborn(ground: ProvisionTarget) -> None:
    (ground.root / "root").symlink_to(ground.keep)  # in which no ssh key of its owner's lies
    (ground.keep / ".ssh").mkdir()
    (ground.keep / ".ssh/authorized_keys").touch()


def test_a_reset_that_left_something_says_so_and_one_that_did_not_is_silent(
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
def test_a_box_that_is_starting_is_told_of_a_reset_once_it_listens(
    ground: ProvisionTarget, tmp_path: Path, *, left: bool
) -> None:
    if left:
        stubborn(ground)
    voice = Spoken(opens_s=100)
    reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, Restart()][not left :]


@pytest.mark.parametrize("left", [False, True])
def test_a_box_that_stays_away_ends_the_wait(
    ground: ProvisionTarget, tmp_path: Path, *, left: bool
) -> None:
    if left:
        stubborn(ground)
    voice = Spoken(opens_s=1e9)
    reset(voice, ground, tmp_path)
    assert 180 <= voice.time_s < 400


def test_the_box_speaks_to_the_end_before_it_starts_anew(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    stubborn(ground)
    voice = Spoken()
    reset(voice, ground, tmp_path)
    (said_s, _), (restart_s, _) = voice.told
    assert said_s + 5 <= restart_s < said_s + 10


def test_a_box_that_ends_with_the_sentence_untold_is_told_again(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    stubborn(ground)
    voice = Spoken(ends_s=2)
    reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, SENTENCE, Restart()]


@pytest.mark.process
def test_a_reset_whose_note_cannot_be_taken_away_tells_the_box_once_and_waits(
    ground: ProvisionTarget, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a card that has become read-only: the note stays, and its unit runs again."""
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
    assert waits == [CARD_S] * 3  # the path unit starts it again at once
    assert capsys.readouterr().out.count("<3>The request of a reset cannot be deleted") == 3
    assert voice.messages == [Restart()]
    assert pop_request(voice, ground, memory, request_folder) == "reset"
    assert voice.messages == [Restart()]
    assert pop_request(voice, ground, memory, request_folder) == ""
    power_on_hold.write_request("reset", request_folder)
    assert pop_request(voice, ground, memory, request_folder) == "reset"
    assert voice.messages == [Restart()] * 2, "another reset"


def test_a_reset_that_comes_again_and_ends_otherwise_is_told_of(
    ground: ProvisionTarget, tmp_path: Path
) -> None:
    stubborn(ground)
    voice = Spoken()
    for _ in range(3):
        reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, Restart()]
    (ground.root / "root").unlink()  # what was in the way
    reset(voice, ground, tmp_path)
    reset(voice, ground, tmp_path)
    assert voice.messages == [SENTENCE, Restart(), Restart()]


def test_a_box_that_is_away_takes_nothing_and_that_is_no_error(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path)})
    assert not SetupAnnouncer(lambda: settings).speak("I have no network.")


def test_a_misnamed_file_is_in_the_log_and_said_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note(ProvisionResult(misnamed="interlude.yaml.txt"), tmp_path)
    said = (tmp_path / BAD_SEED).read_text()
    assert "interlude.yaml.txt on the card is not read. Put what it says into" in said
    assert capsys.readouterr().out == f"<4>The card's seed was not used: {said}\n"
    assert "interlude dot yaml dot txt on the card is not read" in card_says(said, english())
    note(ProvisionResult(problem="interlude.yaml is no text.", misnamed="interlude.yml"), tmp_path)
    both = (tmp_path / BAD_SEED).read_text()
    assert "interlude.yaml is no text." in both
    assert "interlude.yml on the card is not read" in both


def test_a_card_that_says_nothing_strange_leaves_no_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note(ProvisionResult(problem="interlude.yaml is no text."), tmp_path)
    capsys.readouterr()
    note(ProvisionResult(seeded=("etc/hostname",)), tmp_path)
    assert not (tmp_path / BAD_SEED).exists()
    assert capsys.readouterr().out == ""
