"""The page's state of the software is read from the disk only."""

from __future__ import annotations

import msgspec

from appliance.page.software_state import read_state
from appliance.update.request import PROGRESS, InstallProgress
from appliance.update.system.slot_state import SlotContent, SlotStateFile, SlotTrial
from tests.page.desk import Desk

NOW_S = 1.8e9


def test_a_machine_that_is_not_an_appliance_has_no_software_state(
    desk: Desk,
) -> None:
    now = read_state(desk.box.places, NOW_S)
    assert (now.kept, now.before, now.left, now.offers) == ("", "", "", ())
    assert (now.may_ask, now.busy, now.looks) == (False, False, False)
    assert (now.system.version, now.system.slots, now.system.before) == ("", False, "")


def test_a_request_an_installation_or_a_trial_counts_as_busy(desk: Desk) -> None:
    places = desk.box.places
    places.incoming.mkdir()
    for name in ("wanted", "wanted-system"):
        (places.incoming / name).symlink_to("nowhere")
        assert read_state(places, NOW_S).busy
        (places.incoming / name).unlink()
    places.trial.mkdir()
    going = places.trial / PROGRESS
    going.write_bytes(msgspec.json.encode(InstallProgress("0.3.0", "verify")))
    assert read_state(places, NOW_S).busy
    going.unlink()
    assert not read_state(places, NOW_S).busy
    slot_state = SlotStateFile(places.releases / "system")
    with slot_state.locked():
        slot_state.begin_trial(SlotTrial("b", "0.3.0"))
    assert read_state(places, NOW_S).busy


def test_the_running_slot_is_the_one_that_the_machine_booted(desk: Desk) -> None:
    places = desk.box.places
    slot_state = SlotStateFile(places.releases / "system")
    with slot_state.locked():
        slot_state.mark_complete("a", SlotContent("0.1.0", proved=True))
        slot_state.mark_complete("b", SlotContent("0.2.0", proved=True))
    places.command_line.write_text("quiet interlude.slot=b")
    assert read_state(places, NOW_S).system.before == "0.1.0"
    places.start.mkdir()
    (places.start / "slot").write_text("a\n")  # the boot program chose the other slot
    assert read_state(places, NOW_S).system.before == "0.2.0"
