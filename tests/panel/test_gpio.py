"""Edges and light on gpiozero's mock pins, asserted at the pins."""

from __future__ import annotations

import select
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from appliance import settings
from appliance.errors import PanelError
from appliance.panel.gpio import GpioWires
from appliance.panel.pins import pin

PANEL = msgspec.structs.replace(settings.load_defaults().panel, gpio="keyboard", mute_switch=True)


@pytest.fixture
def wires() -> Iterator[GpioWires]:
    wires = GpioWires(PANEL)
    yield wires
    wires.close()


def wire(wires: GpioWires, name: str) -> Any:
    return wires._factory.pin(pin(name).line)


def test_unwired_the_button_is_released_and_the_switch_mutes(wires: GpioWires) -> None:
    assert wires.levels() == {"button": False, "mute_switch": True}


def test_a_low_wire_is_a_press_and_makes_the_descriptor_readable(wires: GpioWires) -> None:
    wire(wires, "button").drive_low()
    assert select.select([wires.fileno()], [], [], 0)[0]
    assert [edge[:2] for edge in wires.edges()] == [("button", True)]
    wire(wires, "button").drive_high()
    assert [edge[:2] for edge in wires.edges()] == [("button", False)]


def test_without_an_edge_there_is_nothing_to_read(wires: GpioWires) -> None:
    assert wires.edges() == []
    assert not select.select([wires.fileno()], [], [], 0)[0]


def test_the_switch_closed_to_ground_unmutes(wires: GpioWires) -> None:
    wires.drive("mute_switch", False)
    assert not wire(wires, "mute_switch").state
    assert [edge[:2] for edge in wires.edges()] == [("mute_switch", False)]


def test_an_unconfigured_switch_is_ignored() -> None:
    bare = GpioWires(msgspec.structs.replace(PANEL, mute_switch=False))
    bare.drive("mute_switch", True)
    assert bare.levels() == {"button": False}
    assert bare.edges() == []
    bare.close()


def test_a_colour_sets_the_three_lines(wires: GpioWires) -> None:
    wires.show((1.0, 0.5, 0.0))
    lines = [wire(wires, f"light_{name}").state for name in ("red", "green", "blue")]
    assert lines == [1.0, 0.5, 0.0]


def test_a_single_light_shows_the_brightest_component() -> None:
    single = GpioWires(msgspec.structs.replace(PANEL, light="single"))
    single.show((0.0, 0.3, 0.9))
    assert wire(single, "light_red").state == pytest.approx(0.9)
    single.close()


def test_a_missing_header_raises_an_error_with_a_remedy() -> None:
    with pytest.raises(PanelError) as caught:
        GpioWires(msgspec.structs.replace(PANEL, gpio="header"))
    assert caught.value.remedy
