"""Lines and chips through libgpiod, on a simulated kernel (kernel.py)."""

from __future__ import annotations

import select

import pytest
from gpiod.line import Bias, Clock, Direction, Edge

from appliance.errors import PanelError
from appliance.panel.gpio_lines import GpioChip
from tests.panel.kernel import Kernel

PI_5 = {"/dev/gpiochip0": "gpio-brcmstb@107d508500", "/dev/gpiochip10": "pinctrl-rp1"}


def chip(kernel: Kernel, label: str = "") -> GpioChip:
    return GpioChip(label, kernel.files, kernel.opened)


@pytest.mark.parametrize("label", ["pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835"])
def test_the_header_is_found_by_its_label_at_any_number(label: str) -> None:
    kernel = Kernel({"/dev/gpiochip0": "something else", "/dev/gpiochip7": label})
    assert chip(kernel).label == label


def test_a_given_label_selects_its_chip() -> None:
    assert chip(Kernel(PI_5), "gpio-brcmstb@107d508500").label == "gpio-brcmstb@107d508500"


def test_without_a_header_the_error_lists_the_available_chips() -> None:
    with pytest.raises(PanelError, match="only gpio-brcmstb"):
        chip(Kernel({"/dev/gpiochip0": "gpio-brcmstb@107d508500"}))


def test_without_any_chip_the_remedy_suggests_the_keyboard() -> None:
    with pytest.raises(PanelError) as caught:
        chip(Kernel({}))
    assert "keyboard" in caught.value.remedy


def test_missing_permission_names_the_group_gpio() -> None:
    with pytest.raises(PanelError) as caught:
        chip(Kernel(PI_5, locked=frozenset(PI_5)))
    assert "gpio" in caught.value.remedy


def test_a_taken_line_names_its_consumer() -> None:
    with pytest.raises(PanelError, match="17 is taken by spi0 CS1"):
        chip(Kernel(PI_5, taken={17: "spi0 CS1"})).line(17)


def test_a_new_line_changes_no_settings() -> None:
    kernel = Kernel(PI_5)
    chip(kernel).line(17)
    assert kernel.wires[17].settings.bias is Bias.AS_IS
    assert kernel.wires[17].settings.edge_detection is Edge.NONE


def test_an_input_keeps_settings_that_are_not_given_again() -> None:
    kernel = Kernel(PI_5)
    line = chip(kernel).line(17)
    line.listen(pull="up")
    line.listen(edges=True)
    now = kernel.wires[17].settings
    assert (now.bias, now.edge_detection) == (Bias.PULL_UP, Edge.BOTH)


def test_an_edge_has_the_kernels_time_on_the_monotonic_clock() -> None:
    kernel = Kernel(PI_5)
    line = chip(kernel).line(17)
    line.listen(pull="up", edges=True)
    kernel.wires[17].pull(up=False, at_ns=5_250_000_000)
    assert select.select([line.fileno()], [], [], 0)[0]
    assert line.events() == [(False, 5.25)]
    assert kernel.wires[17].settings.event_clock is Clock.MONOTONIC


def test_an_output_starts_at_its_level_and_can_become_an_input_again() -> None:
    kernel = Kernel(PI_5)
    line = chip(kernel).line(22)
    line.drive(True)
    assert (kernel.wires[22].level, line.output) == (True, True)
    line.drive(False)
    assert not kernel.wires[22].level
    line.listen()
    assert kernel.wires[22].settings.direction is Direction.INPUT
