"""Software on the page: the releases ready to install, the request, and its outcome."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from appliance import __version__
from appliance.errors import HealthCheckFailed
from appliance.page.software_state import read_state
from appliance.update.release.installer import InstallOptions
from appliance.update.request import PROGRESS, InstallProgress, install_wanted
from appliance.update.system.slot_state import (
    SlotContent,
    SlotStateFile,
    SlotTrial,
    SlotTrialResult,
)
from tests.page.desk import Desk, runs_from_slot_b
from tests.update.release.workshop import Bench, bench

pytestmark = pytest.mark.process  # releases are signed and run through a health check

NEW, FAILING = "0.3.0", "0.4.0"


@pytest.fixture
def at(tmp_path: Path, desk: Desk) -> Bench:
    """A box that runs 0.2.0, with a newer release and a failing one ready to install."""
    made = bench(tmp_path)
    made.installer().install(made.shop.make("0.2.0"))
    desk.box.places.incoming.mkdir()
    for version, kind in ((NEW, "good"), (FAILING, "crashes")):
        shutil.copy(made.shop.make(version, kind), desk.box.places.incoming)
    desk.pair()
    return made


def file_of(desk: Desk, version: str) -> str:
    (found,) = (
        o.file.name for o in read_state(desk.box.places, 0.0).offers if o.version == version
    )
    return found


def as_root(at: Bench, desk: Desk) -> bool:
    return install_wanted(at.installer(), InstallOptions(), desk.box.places.incoming)


def test_the_page_says_that_a_security_update_was_kept_although_it_is_not_well(
    at: Bench, desk: Desk
) -> None:
    assert "closes a security hole" not in desk.text("/own/software")
    at.installer().install(at.shop.make("0.3.5", "crashes", policy={"security": True}))
    page = desk.text("/own/software")
    assert "0.3.5 failed its health check three times: it ended by itself" in page
    assert "Go back to Interlude" not in page
    at.installer().install(at.shop.make("0.3.6"))
    assert "closes a security hole" not in desk.text("/own/software")


def test_a_requested_release_is_installed_and_its_outcome_shown(at: Bench, desk: Desk) -> None:
    page = desk.text("/own/software")
    assert all(words in page for words in (__version__, NEW, FAILING, "Ready to install"))
    form = {"file": file_of(desk, NEW), "token": desk.token}
    assert desk.post("/own/software/install", form).status == 303
    assert "It is requested" in desk.text("/own/software")
    assert as_root(at, desk)
    page = desk.text("/own/software")
    assert f"{NEW} is installed, and passed its health check" in page
    assert "Go back to Interlude 0.2.0" in page
    assert "Yes, go back" in page


def test_a_failed_release_is_reported_and_the_previous_one_runs(at: Bench, desk: Desk) -> None:
    desk.post("/own/software/install", {"file": file_of(desk, FAILING), "token": desk.token})
    with pytest.raises(HealthCheckFailed):
        as_root(at, desk)
    page = desk.text("/own/software")
    assert f"{FAILING} was not installed" in page
    assert "back on 0.2.0" in page
    assert at.store.kept() == "0.2.0"


def test_the_page_can_go_back_to_the_previous_release(at: Bench, desk: Desk) -> None:
    assert desk.post("/own/software/back", {"token": desk.token}).status == 400, (
        "there is no previous release"
    )
    desk.post("/own/software/install", {"file": file_of(desk, NEW), "token": desk.token})
    as_root(at, desk)
    assert desk.post("/own/software/back", {"token": desk.token}).status == 303
    assert as_root(at, desk)
    assert at.store.kept() == "0.2.0"


def test_an_unpaired_browser_requests_nothing(at: Bench, desk: Desk) -> None:
    form = {"file": file_of(desk, NEW), "token": desk.token}
    desk.cookies.clear()
    for path in ("/own/software/install", "/own/software/back", "/own/software/system-back"):
        assert desk.post(path, form).status == 403
    assert not (desk.box.places.incoming / "wanted").exists()


@pytest.mark.parametrize(
    "name", ["", "..", "../0.3.0.release", "/etc/shadow", "0.1.0.release", "wanted", "previous"]
)
def test_only_a_release_in_the_incoming_folder_can_be_requested(
    at: Bench, desk: Desk, name: str
) -> None:
    form = {"file": name, "token": desk.token}
    assert desk.post("/own/software/install", form).status == 400
    assert not (desk.box.places.incoming / "wanted").exists()


def test_during_an_installation_no_other_can_be_requested(at: Bench, desk: Desk) -> None:
    at.store.trial_folder.mkdir(exist_ok=True)
    going = InstallProgress(FAILING, "unpack", 0.42)
    (at.store.trial_folder / PROGRESS).write_bytes(msgspec.json.encode(going))
    page = desk.text("/own/software")
    for words in ('value="42"', "Writes it to the card", "disabled", "refresh"):
        assert words in page
    form = {"file": file_of(desk, NEW), "token": desk.token}
    busy = desk.post("/own/software/install", form)
    assert busy.status == 409
    assert "Wait until that is over" in busy.body.decode()
    assert not (desk.box.places.incoming / "wanted").exists()


@pytest.mark.parametrize("step", ["", "look", "wait for silence", "a step of a later version"])
def test_every_installation_step_can_be_shown(at: Bench, desk: Desk, step: str) -> None:
    at.store.trial_folder.mkdir(exist_ok=True)
    going = InstallProgress(FAILING, step, 0.5)
    (at.store.trial_folder / PROGRESS).write_bytes(msgspec.json.encode(going))
    assert desk.get("/own/software").status == 200


def test_a_machine_that_is_not_an_appliance_says_so_and_requests_nothing(desk: Desk) -> None:
    desk.pair()
    page = desk.text("/own/software")
    assert "neither install a version here nor go back to one" in page
    assert f"Version {__version__} runs" in page
    assert "Ready to install" not in page
    form = {"file": "0.3.0.release", "token": desk.token}
    assert desk.post("/own/software/install", form).status == 400


# ── the operating system ─────────────────────────────────────────────────────────────────────
@pytest.fixture
def slots(desk: Desk) -> SlotStateFile:
    """A card with our image that runs 0.2.0 from slot b; 0.1.0 is proved in slot a."""
    desk.box.places.incoming.mkdir()
    made = runs_from_slot_b(desk)
    with made.locked():
        made.mark_complete("b", SlotContent("0.2.0", proved=True))
    desk.pair()
    return made


def asked_of_root(desk: Desk) -> list[str]:
    return sorted(path.name for path in desk.box.places.incoming.iterdir())


def test_going_back_to_the_previous_system_is_explained_and_then_requested(
    slots: SlotStateFile, desk: Desk
) -> None:
    page = desk.text("/own/software")
    for words in ("Go back to the system 0.1.0", "The whole machine restarts", "Yes, start"):
        assert words in page
    assert desk.post("/own/software/system-back", {"token": desk.token}).status == 303
    assert asked_of_root(desk) == ["wanted-system"]
    assert (desk.box.places.incoming / "wanted-system").read_text() == "previous"
    again = desk.post("/own/software/system-back", {"token": desk.token})
    assert (again.status, "Wait until that is over" in again.body.decode()) == (409, True)


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_no_other_site_can_request_the_previous_system(
    slots: SlotStateFile, desk: Desk, token: str
) -> None:
    assert desk.post("/own/software/system-back", {"token": token}).status == 403
    other = {"token": desk.token}
    assert desk.post("/own/software/system-back", other, origin="http://evil.example").status == 403
    assert desk.get("/own/software/system-back").status == 405
    assert asked_of_root(desk) == []


def test_during_a_system_trial_the_page_says_so_and_requests_nothing(
    slots: SlotStateFile, desk: Desk
) -> None:
    slots.begin_trial(SlotTrial("a", "0.1.0"))
    assert "The machine starts with the system 0.1.0" in desk.text("/own/software")
    assert desk.post("/own/software/system-back", {"token": desk.token}).status == 400
    assert asked_of_root(desk) == []


def test_the_result_of_a_system_trial_is_shown_in_the_browsers_language(
    slots: SlotStateFile, desk: Desk
) -> None:
    values: dict[str, str | int | float] = {"version": "0.3.0"}
    slots.note(SlotTrialResult("0.3.0", "It did not.", "page-wrong-system-not-up", values))
    assert "The system 0.3.0 did not come up." in desk.text("/own/software")
    german = desk.get("/own/software", accept_language="de").body.decode()
    assert "Das System 0.3.0 ist nicht gestartet." in german


def test_a_kernel_without_a_trial_boot_is_reported_and_nothing_is_requested(
    slots: SlotStateFile, desk: Desk
) -> None:
    desk.box.places.firmware.unlink()
    page = desk.text("/own/software")
    assert "cannot ask the Pi for a trial" in page
    assert "/own/software/system-back" not in page
    assert desk.post("/own/software/system-back", {"token": desk.token}).status == 400
    assert asked_of_root(desk) == []


def test_an_unproved_system_is_not_offered(slots: SlotStateFile, desk: Desk) -> None:
    slots.mark_complete("a", SlotContent("0.1.0"))
    assert "There is no earlier system" in desk.text("/own/software")
    assert desk.post("/own/software/system-back", {"token": desk.token}).status == 400


def test_a_box_without_our_image_says_who_updates_its_system(at: Bench, desk: Desk) -> None:
    assert "its own package manager" in desk.text("/own/software")
    assert desk.post("/own/software/system-back", {"token": desk.token}).status == 400
