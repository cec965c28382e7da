"""The update button: what it shows, what it asks for, and how that goes. Releases are real ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed
from appliance.mqtt.command_topics import CommandRejected
from appliance.mqtt.update_entity import (
    BEGINS_S,
    MOST_CHARACTERS,
    UpdateEntity,
    UpdateStatus,
    installs,
    read_update_status,
)
from appliance.update.release.installer import InstallOptions
from appliance.update.request import InstallProgress, UpdateOffer, install_wanted, request_install
from tests.update.release.workshop import Bench, bench

OFFER = UpdateOffer("0.3.0", Path("/nowhere/0.3.0.release"))


@pytest.fixture
def at(tmp_path: Path) -> Bench:
    return bench(tmp_path)


@pytest.fixture
def incoming(at: Bench, tmp_path: Path) -> Path:
    """The box runs 0.2.0; two newer releases lie ready, of which the newest does not come up."""
    at.installer().install(at.shop.make("0.2.0"))
    folder = tmp_path / "incoming"
    folder.mkdir()
    shutil.copy(at.shop.make("0.3.0"), folder)
    shutil.copy(at.shop.make("0.4.0", "crashes"), folder)
    return folder


def software(ready: UpdateStatus | None = None, now_s: float = 0.0) -> UpdateEntity:
    made = UpdateEntity("0.2.0")
    made.update(ready or UpdateStatus(), now_s)
    return made


def test_a_box_without_anything_ready_is_up_to_date() -> None:
    told = software().payload()
    assert told["installed_version"] == told["latest_version"] == "0.2.0"
    assert (told["in_progress"], told["update_percentage"]) == (False, None)
    assert told["release_summary"] == ""  # Home Assistant refuses the whole payload for a null here
    with pytest.raises(CommandRejected, match="nothing to install"):
        software().install(1.0)


def test_all_keys_are_there_whatever_happens() -> None:
    keys = set(software().payload())
    for ready in (
        UpdateStatus(OFFER),
        UpdateStatus(OFFER, InstallProgress("0.3.0", "trying", 0.5)),
    ):
        assert set(software(ready).payload()) == keys


def test_a_system_is_offered_beside_the_one_that_runs_and_not_beside_the_release() -> None:
    made = software(
        UpdateStatus(UpdateOffer("0.0.7", Path("/nowhere/0.0.7.system")), system="0.0.6")
    )
    told = made.payload()
    assert (told["installed_version"], told["latest_version"]) == ("0.0.6", "0.0.7")
    assert "system" in told["title"]


def test_progress_follows_the_installation_and_ends_with_it() -> None:
    made = software(UpdateStatus(OFFER))
    assert made.install(1.0) == OFFER
    assert made.payload()["in_progress"] is True
    assert made.payload()["update_percentage"] is None  # nobody has begun yet
    made.update(UpdateStatus(OFFER, InstallProgress("0.3.0", "unpacking", 0.42)), 2.0)
    told = made.payload()
    assert (told["latest_version"], told["update_percentage"]) == ("0.3.0", 42)
    with pytest.raises(CommandRejected, match="already"):
        made.install(3.0)
    made.update(UpdateStatus(OFFER, InstallProgress("0.3.0", problem="It is damaged.")), 4.0)
    told = made.payload()
    assert told["in_progress"] is False
    assert told["release_summary"] == "0.3.0 was not installed: It is damaged."
    assert made.install(5.0) == OFFER  # one may try again


def test_nobody_who_begins_is_waited_for_in_vain() -> None:
    made = software(UpdateStatus(OFFER))
    made.install(1.0)
    made.update(UpdateStatus(OFFER), BEGINS_S)
    assert made.busy
    made.update(UpdateStatus(OFFER), BEGINS_S + 1.1)
    assert not made.busy


def test_a_long_story_of_failure_is_as_short_as_home_assistant_wants_it() -> None:
    told = software(UpdateStatus(None, InstallProgress("0.3.0", problem="x" * 1000))).payload()
    assert len(told["release_summary"]) == MOST_CHARACTERS


@pytest.mark.process
def test_the_newest_of_what_lies_ready_is_offered(at: Bench, incoming: Path) -> None:
    ready = read_update_status(at.store, incoming, at.store.trial_folder)
    assert ready.offer is not None
    assert software(ready).payload()["latest_version"] == "0.4.0"


@pytest.mark.process
def test_how_a_real_installation_ended_is_told(at: Bench, incoming: Path) -> None:
    made = software(read_update_status(at.store, incoming, at.store.trial_folder))
    request_install(made.install(1.0))
    with pytest.raises(HealthCheckFailed):
        install_wanted(at.installer(), InstallOptions(), incoming)
    made.update(read_update_status(at.store, incoming, at.store.trial_folder), 2.0)
    told = made.payload()
    assert told["in_progress"] is False
    assert told["release_summary"].startswith("0.4.0 was not installed: ")


def test_only_a_box_with_a_folder_to_ask_in_can_be_told_to_install(tmp_path: Path) -> None:
    assert installs(tmp_path)
    assert not installs(tmp_path / "away")
