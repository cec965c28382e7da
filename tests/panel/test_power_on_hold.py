"""What a button held at power-on sets going: the word to who has the rights, and the note."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from appliance.language.catalogue import english
from appliance.messages.commands import Restart, Say
from appliance.panel import power_on_hold
from appliance.panel.power_on_hold import WANTED_SETUP, PowerOnHold, write_request
from appliance.runtime import factory_reset

LOG = logging.getLogger("panel")


def test_who_has_the_rights_is_asked_whatever_else_fails(tmp_path: Path) -> None:
    """The state's folder cannot be written: not even a note is possible."""
    incoming, state = tmp_path / "incoming", tmp_path / "state"
    incoming.mkdir()
    (state / "timers").mkdir(parents=True)
    (state / factory_reset.NOTE).mkdir()  # in the note's way, and in root's way too
    (state / factory_reset.NOTE / "file").touch()
    here = PowerOnHold(state, LOG, incoming)
    here.start("reset")
    assert here.messages.get(timeout=20) == Restart(), "all was erased at once"
    assert (incoming / WANTED_SETUP).read_text() == "reset"
    assert not (state / "timers").exists()


def test_a_reset_that_can_do_nothing_says_so_and_does_not_begin_anew(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    here = PowerOnHold(tmp_path / "state", LOG, tmp_path / "none")
    here.start("reset")
    assert here.messages.get(timeout=20) == Say(english().say("reset-failed"))


def test_set_up_is_asked_for_and_erases_nothing(tmp_path: Path) -> None:
    (tmp_path / "timers").mkdir()
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    PowerOnHold(tmp_path, LOG, incoming)._request_setup()
    assert (incoming / WANTED_SETUP).read_text() == "setup"
    assert (tmp_path / "timers").exists()


@pytest.mark.parametrize("wish", ["setup", "reset"])
def test_who_has_the_rights_finds_one_word(
    tmp_path: Path, wish: power_on_hold.PowerOnAction
) -> None:
    assert write_request(wish, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [WANTED_SETUP]
    assert (tmp_path / WANTED_SETUP).read_text() == wish


def test_who_has_the_rights_looks_for_that_word() -> None:
    unit = Path(__file__).parents[2] / "system/usr/lib/systemd/system/interlude-setup.path"
    assert f"PathExists={power_on_hold.REQUEST_FOLDER}/{WANTED_SETUP}\n" in unit.read_text()


def test_where_nobody_has_them_nothing_is_asked(tmp_path: Path) -> None:
    assert not write_request("setup", tmp_path / "none")
