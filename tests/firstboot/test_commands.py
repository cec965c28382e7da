"""What the panel asks for is done once, and a box that does not answer stops nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.firstboot.apply import Ground
from appliance.firstboot.commands import Voice, reset, wish
from appliance.messages import Message, Restart, Say
from appliance.panel import held
from appliance.panel.held import WANTED_SETUP
from appliance.settings import load


@pytest.mark.parametrize(
    ("note", "meant"), [("setup", "setup"), ("reset\n", "reset"), ("rm -rf", ""), (None, "")]
)
def test_a_wish_is_understood_and_stays_until_it_is_fulfilled(
    tmp_path: Path, note: str | None, meant: str
) -> None:
    if note is not None:
        (tmp_path / WANTED_SETUP).write_text(note)
    assert wish(tmp_path) == meant
    assert wish(tmp_path) == meant


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
    assert wish(tmp_path) == ""


def test_the_panel_leaves_its_wish_where_it_is_looked_for(tmp_path: Path) -> None:
    assert held.ask("setup", tmp_path)
    assert wish(tmp_path) == "setup"


class Spoken(Voice):
    def __init__(self) -> None:
        self.told: list[Message] = []

    def tell(self, message: Message) -> bool:
        self.told.append(message)
        return True


def test_a_reset_that_left_something_says_so_and_one_that_did_not_is_silent(
    ground: Ground,
) -> None:
    voice = Spoken()
    reset(voice, ground)
    assert voice.told == [Restart()]
    (ground.root / "root").symlink_to(ground.keep)  # in which no ssh key of its owner's lies
    (ground.keep / ".ssh").mkdir()
    (ground.keep / ".ssh/authorized_keys").touch()
    reset(voice, ground)
    said = voice.told[1]
    assert isinstance(said, Say)
    assert "Do not give it away" in said.text
    assert voice.told[2:] == [Restart()]


def test_a_box_that_is_away_takes_nothing_and_that_is_no_error(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path)})
    assert not Voice(lambda: settings).says("I have no network.")
