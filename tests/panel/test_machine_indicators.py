"""What the light is told of the machine, on machines that are made of files."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from appliance import settings
from appliance.models.store import ModelStore
from appliance.panel.light import PATTERNS
from appliance.panel.machine_indicators import FETCHING_S, LOOK_S, STALE_S, MachineIndicators
from appliance.runtime import network_status
from appliance.runtime.machine import Machine
from appliance.update.request import PROGRESS, ProgressWriter

ROOT = Path(__file__).parents[2]
ZONE = "sys/class/thermal/thermal_zone0/temp"
THROTTLED = "sys/devices/platform/soc@107c000000/soc:firmware/get_throttled"


@pytest.fixture
def around(tmp_path: Path) -> MachineIndicators:
    store = ModelStore.of(settings.load(None, {"state_dir": str(tmp_path / "state")}))
    return MachineIndicators(Machine(tmp_path), store, tmp_path / "trial", tmp_path)


def put(path: Path, text: str = "x", age_s: float = 0.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    then = time.time() - age_s
    os.utime(path, (then, then))


def partial(around: MachineIndicators) -> Path:
    model = next(m for m in around.store.models.values() if not m.shipped)
    return around.store.partial(model, next(iter(model.files.values())))


def test_a_machine_that_is_well_shows_nothing(around: MachineIndicators, tmp_path: Path) -> None:
    put(tmp_path / ZONE, "52100")
    assert around.poll(0.0) == frozenset()


def test_heat_is_shown_from_80_degrees_until_it_has_cooled_down(
    around: MachineIndicators, tmp_path: Path
) -> None:
    seen = []
    for number, degrees in enumerate((79.9, 80.0, 78.5, 76.9, 79.0)):
        put(tmp_path / ZONE, str(int(degrees * 1000)))
        seen.append("too_hot" in around.poll(number * LOOK_S))
    assert seen == [False, True, True, False, False]


def test_a_weak_supply_is_shown_like_heat_and_one_that_was_weak_is_not(
    around: MachineIndicators, tmp_path: Path
) -> None:
    put(tmp_path / THROTTLED, "1")
    assert around.poll(0.0) == {"too_hot"}
    put(tmp_path / THROTTLED, "50000")
    assert around.poll(LOOK_S) == frozenset()


def test_an_installation_is_shown_until_it_ends(around: MachineIndicators, tmp_path: Path) -> None:
    writer = ProgressWriter(tmp_path / "trial", "2.0.0")
    writer.update("unpack", 0.4)
    assert around.poll(0.0) == {"updating"}
    writer.finish()
    assert around.poll(LOOK_S) == frozenset()


def test_one_that_was_killed_is_not_shown_for_ever(
    around: MachineIndicators, tmp_path: Path
) -> None:
    ProgressWriter(tmp_path / "trial", "2.0.0").update("unpack", 0.4)
    then = time.time() - STALE_S - 1
    os.utime(tmp_path / "trial" / PROGRESS, (then, then))
    assert around.poll(0.0) == frozenset()


@pytest.mark.parametrize(("age_s", "shown"), [(0.0, True), (FETCHING_S + 1, False)])
def test_a_download_is_shown_while_its_file_grows(
    around: MachineIndicators, age_s: float, shown: bool
) -> None:
    put(partial(around), age_s=age_s)
    assert ("fetching" in around.poll(0.0)) == shown


def test_the_box_waits_to_be_set_up_while_its_own_wifi_is_open(
    around: MachineIndicators, tmp_path: Path
) -> None:
    network_status.write_status(network_status.NetworkStatus(setup="Interlude 4711"), tmp_path)
    assert around.poll(0.0) == {"setup"}
    network_status.write_status(
        network_status.NetworkStatus(problem="The Wi-Fi Home is out of range."), tmp_path
    )
    assert around.poll(LOOK_S) == frozenset()


def test_what_says_so_lies_where_the_box_may_read() -> None:
    """Set-up's own folder is hidden from it: the light never blinked while its file lay there."""
    unit = (ROOT / "system/usr/lib/systemd/system/interlude.service").read_text()
    (hidden,) = re.findall(r"^InaccessiblePaths=(.*)$", unit, re.MULTILINE)
    assert f"-{network_status.FOLDER}" not in hidden.split()
    folders = (ROOT / "system/usr/lib/tmpfiles.d/interlude.conf").read_text()
    assert re.search(rf"^d\s+{network_status.FOLDER}\s+0755 root\s+root\s", folders, re.MULTILINE)


def test_the_disk_is_left_alone_between_two_looks(
    around: MachineIndicators, tmp_path: Path
) -> None:
    around.poll(0.0)
    put(tmp_path / ZONE, "90000")
    assert around.poll(LOOK_S / 2) == frozenset()
    assert around.poll(LOOK_S) == {"too_hot"}


def test_all_that_is_seen_has_a_pattern(around: MachineIndicators, tmp_path: Path) -> None:
    put(tmp_path / ZONE, "90000")
    put(partial(around))
    ProgressWriter(tmp_path / "trial", "2.0.0").update("unpack", 0.4)
    assert around.poll(0.0) == {"too_hot", "updating", "fetching"}
    assert around.seen <= PATTERNS.keys()
