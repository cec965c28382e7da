"""The update entity: what it shows, what it requests, and the result. Releases are real ones."""

from __future__ import annotations

import shutil
from functools import partial
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
    """The box runs 0.2.0; two newer releases are available, and the newest one crashes."""
    at.installer().install(at.shop.make("0.2.0"))
    folder = tmp_path / "incoming"
    folder.mkdir()
    shutil.copy(at.shop.make("0.3.0"), folder)
    shutil.copy(at.shop.make("0.4.0", "crashes"), folder)
    return folder


def make_entity(ready: UpdateStatus | None = None, now_s: float = 0.0) -> UpdateEntity:
    entity = UpdateEntity("0.2.0")
    entity.update(ready or UpdateStatus(), now_s)
    return entity


def test_a_box_without_anything_ready_is_up_to_date() -> None:
    payload = make_entity().payload()
    assert payload["installed_version"] == payload["latest_version"] == "0.2.0"
    assert (payload["in_progress"], payload["update_percentage"]) == (False, None)
    # Home Assistant refuses the whole payload for a null here.
    assert payload["release_summary"] == ""
    with pytest.raises(CommandRejected, match="nothing to install"):
        make_entity().install(1.0)


def test_the_payload_always_has_the_same_keys() -> None:
    keys = set(make_entity().payload())
    for ready in (
        UpdateStatus(OFFER),
        UpdateStatus(OFFER, InstallProgress("0.3.0", "trying", 0.5)),
    ):
        assert set(make_entity(ready).payload()) == keys


def test_a_system_offer_is_compared_with_the_running_system() -> None:
    entity = make_entity(
        UpdateStatus(UpdateOffer("0.0.7", Path("/nowhere/0.0.7.system")), system="0.0.6")
    )
    payload = entity.payload()
    assert (payload["installed_version"], payload["latest_version"]) == ("0.0.6", "0.0.7")
    assert "system" in payload["title"]


def test_progress_follows_the_installation_and_ends_with_it() -> None:
    entity = make_entity(UpdateStatus(OFFER))
    assert entity.install(1.0) == OFFER
    assert entity.payload()["in_progress"] is True
    assert entity.payload()["update_percentage"] is None  # the installer has not begun yet
    entity.update(UpdateStatus(OFFER, InstallProgress("0.3.0", "unpacking", 0.42)), 2.0)
    payload = entity.payload()
    assert (payload["latest_version"], payload["update_percentage"]) == ("0.3.0", 42)
    with pytest.raises(CommandRejected, match="already"):
        entity.install(3.0)
    entity.update(UpdateStatus(OFFER, InstallProgress("0.3.0", problem="It is damaged.")), 4.0)
    payload = entity.payload()
    assert payload["in_progress"] is False
    assert payload["release_summary"] == "0.3.0 was not installed: It is damaged."
    assert entity.install(5.0) == OFFER  # a retry is allowed


def test_waiting_for_the_installer_to_begin_times_out() -> None:
    entity = make_entity(UpdateStatus(OFFER))
    entity.install(1.0)
    entity.update(UpdateStatus(OFFER), BEGINS_S)
    assert entity.busy
    entity.update(UpdateStatus(OFFER), BEGINS_S + 1.1)
    assert not entity.busy


def test_a_long_failure_message_is_cut_to_the_limit_of_home_assistant() -> None:
    payload = make_entity(
        UpdateStatus(None, InstallProgress("0.3.0", problem="x" * 1000))
    ).payload()
    assert len(payload["release_summary"]) == MOST_CHARACTERS


@pytest.mark.process
def test_the_newest_available_release_is_offered(at: Bench, incoming: Path) -> None:
    ready = read_update_status(at.store, incoming, at.store.trial_folder)
    assert ready.offer is not None
    assert make_entity(ready).payload()["latest_version"] == "0.4.0"


@pytest.mark.process
def test_the_result_of_a_real_installation_is_published(at: Bench, incoming: Path) -> None:
    entity = make_entity(read_update_status(at.store, incoming, at.store.trial_folder))
    request_install(entity.install(1.0))
    with pytest.raises(HealthCheckFailed):
        install_wanted(at.installer(), InstallOptions(), incoming)
    entity.update(read_update_status(at.store, incoming, at.store.trial_folder), 2.0)
    payload = entity.payload()
    assert payload["in_progress"] is False
    assert payload["release_summary"].startswith("0.4.0 was not installed: ")


def test_only_a_box_with_a_request_folder_offers_installation(tmp_path: Path) -> None:
    assert installs(tmp_path)
    assert not installs(tmp_path / "away")


@pytest.mark.process
def test_the_house_is_told_that_no_look_for_updates_has_succeeded(
    at: Bench, incoming: Path, tmp_path: Path
) -> None:
    pull = tmp_path / "pull.env"
    pull.touch()
    set_s = pull.stat().st_mtime
    summaries = []
    for days in (29, 31):
        now_s = partial(float, set_s + days * 86_400.0)
        read = read_update_status(
            at.store, incoming, at.store.trial_folder, tmp_path / "none", pull, now_s
        )
        summaries.append(make_entity(read).payload()["release_summary"])
    assert summaries == ["", "No look for updates has succeeded for 30 days."]
    failed = UpdateStatus(going=InstallProgress("0.4.0", problem="it ended"), stale=True)
    assert "0.4.0 was not installed" in make_entity(failed).payload()["release_summary"]
