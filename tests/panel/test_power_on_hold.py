"""The actions of a button held at power-on: the request to root, and the reset."""

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


def test_a_card_that_takes_no_note_is_erased_at_the_next_start_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note is then in memory; root's request does not depend on it."""
    incoming, state = tmp_path / "incoming", tmp_path / "state"
    incoming.mkdir()
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "run"))
    (state / "timers").mkdir(parents=True)
    (state / factory_reset.NOTE).mkdir(parents=True)  # blocks the note, also for root
    (state / factory_reset.NOTE / "file").touch()
    hold = PowerOnHold(state, LOG, incoming)
    hold.start("reset")
    assert hold.messages.get(timeout=20) == Restart()
    assert (incoming / WANTED_SETUP).read_text() == "reset"
    assert factory_reset.unfinished(state)
    factory_reset.complete_reset(state)  # as at the next start
    assert not (state / "timers").exists()
    assert factory_reset.to_say(state) == "reset-done"
    assert not factory_reset.unfinished(state)


def test_a_reset_that_fails_is_announced_and_does_not_restart(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    hold = PowerOnHold(tmp_path / "state", LOG, tmp_path / "none")
    hold.start("reset")
    assert hold.messages.get(timeout=20) == Say(english().say("reset-failed"))


def test_set_up_is_requested_and_erases_nothing(tmp_path: Path) -> None:
    (tmp_path / "timers").mkdir()
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    PowerOnHold(tmp_path, LOG, incoming)._request_setup()
    assert (incoming / WANTED_SETUP).read_text() == "setup"
    assert (tmp_path / "timers").exists()


@pytest.mark.parametrize("action", ["setup", "reset"])
def test_the_request_is_one_file_with_one_word(
    tmp_path: Path, action: power_on_hold.PowerOnAction
) -> None:
    assert write_request(action, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [WANTED_SETUP]
    assert (tmp_path / WANTED_SETUP).read_text() == action


def test_systemds_path_unit_watches_the_request_file() -> None:
    unit = Path(__file__).parents[2] / "system/usr/lib/systemd/system/interlude-setup.path"
    assert f"PathExists={power_on_hold.REQUEST_FOLDER}/{WANTED_SETUP}\n" in unit.read_text()


def test_without_the_request_folder_nothing_is_requested(tmp_path: Path) -> None:
    assert not write_request("setup", tmp_path / "none")
