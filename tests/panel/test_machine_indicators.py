"""The machine's indicators for the light, on simulated machines made of files."""

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
def indicators(tmp_path: Path) -> MachineIndicators:
    store = ModelStore.of(settings.load(None, {"state_dir": str(tmp_path / "state")}))
    return MachineIndicators(Machine(tmp_path), store, tmp_path / "trial", tmp_path)


def put(path: Path, text: str = "x", age_s: float = 0.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    then = time.time() - age_s
    os.utime(path, (then, then))


def partial(indicators: MachineIndicators) -> Path:
    model = next(m for m in indicators.store.models.values() if not m.shipped)
    return indicators.store.partial(model, next(iter(model.files.values())))


def test_a_healthy_machine_has_no_indicators(indicators: MachineIndicators, tmp_path: Path) -> None:
    put(tmp_path / ZONE, "52100")
    assert indicators.poll(0.0) == frozenset()


def test_heat_is_shown_from_80_degrees_until_it_has_cooled_down(
    indicators: MachineIndicators, tmp_path: Path
) -> None:
    seen = []
    for number, degrees in enumerate((79.9, 80.0, 78.5, 76.9, 79.0)):
        put(tmp_path / ZONE, str(int(degrees * 1000)))
        seen.append("too_hot" in indicators.poll(number * LOOK_S))
    assert seen == [False, True, True, False, False]


def test_undervoltage_is_shown_like_heat_while_it_lasts(
    indicators: MachineIndicators, tmp_path: Path
) -> None:
    put(tmp_path / THROTTLED, "1")
    assert indicators.poll(0.0) == {"too_hot"}
    put(tmp_path / THROTTLED, "50000")
    assert indicators.poll(LOOK_S) == frozenset()


def test_an_installation_is_shown_until_it_ends(
    indicators: MachineIndicators, tmp_path: Path
) -> None:
    writer = ProgressWriter(tmp_path / "trial", "2.0.0")
    writer.update("unpack", 0.4)
    assert indicators.poll(0.0) == {"updating"}
    writer.finish()
    assert indicators.poll(LOOK_S) == frozenset()


def test_a_killed_installation_is_not_shown_forever(
    indicators: MachineIndicators, tmp_path: Path
) -> None:
    ProgressWriter(tmp_path / "trial", "2.0.0").update("unpack", 0.4)
    then = time.time() - STALE_S - 1
    os.utime(tmp_path / "trial" / PROGRESS, (then, then))
    assert indicators.poll(0.0) == frozenset()


@pytest.mark.parametrize(("age_s", "shown"), [(0.0, True), (FETCHING_S + 1, False)])
def test_a_download_is_shown_while_its_file_grows(
    indicators: MachineIndicators, age_s: float, shown: bool
) -> None:
    put(partial(indicators), age_s=age_s)
    assert ("fetching" in indicators.poll(0.0)) == shown


def test_set_up_is_shown_while_the_boxs_wifi_is_open(
    indicators: MachineIndicators, tmp_path: Path
) -> None:
    network_status.write_status(network_status.NetworkStatus(setup="Interlude 4711"), tmp_path)
    assert indicators.poll(0.0) == {"setup"}
    network_status.write_status(
        network_status.NetworkStatus(problem="The Wi-Fi Home is out of range."), tmp_path
    )
    assert indicators.poll(LOOK_S) == frozenset()


def test_the_network_status_is_readable_by_the_box() -> None:
    """The service cannot see set-up's own folder: with the file there, the light never blinked."""
    unit = (ROOT / "system/usr/lib/systemd/system/interlude.service").read_text()
    (hidden,) = re.findall(r"^InaccessiblePaths=(.*)$", unit, re.MULTILINE)
    assert f"-{network_status.FOLDER}" not in hidden.split()
    folders = (ROOT / "system/usr/lib/tmpfiles.d/interlude.conf").read_text()
    assert re.search(rf"^d\s+{network_status.FOLDER}\s+0755 root\s+root\s", folders, re.MULTILINE)


def test_the_disk_is_not_read_between_two_polls(
    indicators: MachineIndicators, tmp_path: Path
) -> None:
    indicators.poll(0.0)
    put(tmp_path / ZONE, "90000")
    assert indicators.poll(LOOK_S / 2) == frozenset()
    assert indicators.poll(LOOK_S) == {"too_hot"}


def test_every_indicator_has_a_pattern(indicators: MachineIndicators, tmp_path: Path) -> None:
    put(tmp_path / ZONE, "90000")
    put(partial(indicators))
    ProgressWriter(tmp_path / "trial", "2.0.0").update("unpack", 0.4)
    assert indicators.poll(0.0) == {"too_hot", "updating", "fetching"}
    assert indicators.seen <= PATTERNS.keys()
