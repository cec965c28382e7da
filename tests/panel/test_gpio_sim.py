"""The wires on real GPIO lines of the kernel's simulator gpio-sim, which needs root and configfs;
skipped where the kernel lacks it."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from appliance import settings
from appliance.errors import PanelError
from appliance.messages.commands import TalkButton
from appliance.panel.gpio import GpioWires
from appliance.panel.gpio_lines import GpioChip
from appliance.panel.pins import pin
from tests import skips
from tests.panel.box import Room

CONFIG = skips.GPIO_SIM_FOLDER
LABEL = "interlude-test"

pytestmark = pytest.mark.skipif(not os.access(CONFIG, os.W_OK), reason=skips.GPIO_SIM)


class Simulator:
    """A chip of 28 lines. `pull` sets the external level of a line, `value` reads its level."""

    def __init__(self) -> None:
        self.config = CONFIG / LABEL
        (self.config / "bank0").mkdir(parents=True)
        (self.config / "bank0/num_lines").write_text("28")
        (self.config / "bank0/label").write_text(LABEL)
        (self.config / "live").write_text("1")
        device = (self.config / "dev_name").read_text().strip()
        chip = (self.config / "bank0/chip_name").read_text().strip()
        self.lines = Path("/sys/devices/platform", device, chip)

    def pull(self, name: str, direction: str) -> None:
        (self.lines / f"sim_gpio{pin(name).line}/pull").write_text(f"pull-{direction}")

    def value(self, name: str) -> str:
        return (self.lines / f"sim_gpio{pin(name).line}/value").read_text().strip()

    def close(self) -> None:
        (self.config / "live").write_text("0")
        (self.config / "bank0").rmdir()
        self.config.rmdir()


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    made = Simulator()
    yield made
    made.close()


@pytest.fixture
def wires(simulator: Simulator) -> Iterator[GpioWires]:
    panel = settings.load_defaults().panel
    wires = GpioWires(msgspec.structs.replace(panel, gpio="header", chip=LABEL, mute_switch=True))
    yield wires
    wires.close()


def until(true: Callable[[], bool]) -> bool:
    """Whether `true()` became true within 20 s."""
    end = time.monotonic() + 20.0
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def arrived(wires: GpioWires, count: int) -> list[tuple[str, bool, float]]:
    found: list[tuple[str, bool, float]] = []
    while len(found) < count and select.select([wires.fileno()], [], [], 20.0)[0]:
        found += wires.edges()
    return found


def test_unwired_lines_are_held_high_by_the_kernels_pull_ups(wires: GpioWires) -> None:
    assert wires.levels() == {"button": False, "mute_switch": True}
    assert wires.access == f"libgpiod, {LABEL}"


def test_a_press_arrives_with_the_kernels_timestamp(wires: GpioWires, simulator: Simulator) -> None:
    before = time.monotonic()
    simulator.pull("button", "down")
    after = time.monotonic()
    ((name, down, at),) = arrived(wires, 1)
    assert (name, down) == ("button", True)
    assert before <= at <= after
    assert wires.levels()["button"]
    simulator.pull("button", "up")
    assert [edge[:2] for edge in arrived(wires, 1)] == [("button", False)]


def test_the_switch_has_its_own_line(wires: GpioWires, simulator: Simulator) -> None:
    simulator.pull("mute_switch", "down")
    assert [edge[:2] for edge in arrived(wires, 1)] == [("mute_switch", False)]


def test_after_a_thousand_bounces_the_level_is_correct(
    wires: GpioWires, simulator: Simulator
) -> None:
    for _ in range(500):
        simulator.pull("button", "down")
        simulator.pull("button", "up")
    simulator.pull("button", "down")
    last: list[bool] = []

    def ends_down() -> bool:
        last.extend(down for _, down, _ in wires.edges())
        return bool(last) and last[-1] and wires.levels()["button"]

    assert until(ends_down)


def test_a_full_colour_is_steady_on_the_lines(wires: GpioWires, simulator: Simulator) -> None:
    wires.show((1.0, 0.0, 1.0))
    names = ("light_red", "light_green", "light_blue")
    assert [simulator.value(name) for name in names] == ["1", "0", "1"]


def test_a_dimmed_line_alternates_between_lit_and_dark(
    wires: GpioWires, simulator: Simulator
) -> None:
    wires.show((0.5, 0.0, 0.0))
    assert until(lambda: simulator.value("light_red") == "1")
    assert until(lambda: simulator.value("light_red") == "0")
    wires.show((0.0, 0.0, 0.0))
    assert simulator.value("light_red") == "0"
    assert not any(simulator.value("light_red") == "1" for _ in range(50))


def test_a_taken_line_names_its_consumer(wires: GpioWires) -> None:
    with pytest.raises(PanelError, match="taken by interlude"):
        GpioChip(LABEL).line(pin("button").line)


def test_closed_lines_can_be_opened_again(simulator: Simulator) -> None:
    panel = settings.load_defaults().panel
    for _ in range(2):
        GpioWires(msgspec.structs.replace(panel, gpio="header", chip=LABEL)).close()


def test_an_unknown_label_is_an_error_that_lists_the_available_chips(simulator: Simulator) -> None:
    with pytest.raises(PanelError, match=LABEL):
        GpioChip("pinctrl-of-mars")


@pytest.mark.timeout(900)  # an emulated machine takes more than a minute for the imports
def test_the_whole_panel_works_on_the_kernels_lines(simulator: Simulator, tmp_path: Path) -> None:
    """Press → floor and conductor; switch → microphone off; state → light."""
    room = Room(tmp_path, 400.0, gpio="header", chip=LABEL, night="")
    try:
        ready = [room.box.parts[name].heart for name in ("conductor", "panel")]
        assert room.until(lambda: all(heart.is_ready for heart in ready), 400.0)
        assert room.floor.switched_off
        assert until(lambda: simulator.value("light_red") == "1")  # muted: steady
        simulator.pull("mute_switch", "down")
        assert room.until(lambda: not room.floor.microphone_off)
        before = room.floor.press
        simulator.pull("button", "down")
        assert room.until(lambda: room.floor.press == before + 1 and TalkButton(True) in room.heard)
        simulator.pull("button", "up")
        assert room.until(lambda: not room.floor.pressed)
        simulator.pull("mute_switch", "up")
        assert room.until(lambda: room.floor.microphone_off)
    finally:
        room.close()
