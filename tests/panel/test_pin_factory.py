"""The panel's inputs and gpiozero's PWMLED on our pin factory, asserted at the simulated wires."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from gpiozero import PWMLED

from appliance.errors import PanelError
from appliance.panel.gpio_lines import GpioChip
from appliance.panel.pin_factory import KernelPinFactory
from tests.panel.kernel import Kernel

SOON_S = 20.0  # limit for a thread on a busy machine


@pytest.fixture
def kernel() -> Kernel:
    return Kernel({"/dev/gpiochip4": "pinctrl-rp1"}, taken={14: "ttyAMA0"})


@pytest.fixture
def factory(kernel: Kernel) -> Iterator[KernelPinFactory]:
    made = KernelPinFactory(GpioChip("", kernel.files, kernel.opened))
    yield made
    made.close()


class Listener:
    """A pulled-up input with a callback, as in gpio.py."""

    def __init__(self, factory: KernelPinFactory, line: int) -> None:
        self.heard: list[bool] = []
        self._woken = threading.Event()
        self.pin = factory.pin(line)
        self.pin.input_with_pull("up")
        self.pin.when_changed = self._changed

    def _changed(self, at_s: float, level: bool) -> None:
        self.heard.append(level)
        self._woken.set()

    def waited(self) -> bool:
        """Whether a change arrived since the last call."""
        heard = self._woken.wait(SOON_S)
        self._woken.clear()
        return heard


def test_a_low_line_is_a_press(factory: KernelPinFactory, kernel: Kernel) -> None:
    button = Listener(factory, 17)
    assert button.pin.state == 1
    kernel.wires[17].pull(up=False)
    assert button.waited()
    assert button.pin.state == 0
    kernel.wires[17].pull(up=None)
    assert button.waited()
    assert button.heard == [False, True]


def test_one_thread_reports_the_edges_of_two_lines_separately(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    one, other = Listener(factory, 17), Listener(factory, 27)
    kernel.wires[27].pull(up=False)
    assert other.waited()
    assert (one.heard, other.heard) == ([], [False])


def test_a_closed_input_reports_nothing(factory: KernelPinFactory, kernel: Kernel) -> None:
    closed, open_ = Listener(factory, 17), Listener(factory, 27)
    closed.pin.close()
    kernel.wires[17].pull(up=False)
    kernel.wires[27].pull(up=False)
    assert open_.waited()
    assert closed.heard == []


def test_a_led_switches_its_line_and_becomes_an_input_when_closed(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    led = PWMLED(22, pin_factory=factory)
    seen: list[bool] = []
    for light in (led.on, led.off, led.on):
        light()
        seen.append(kernel.wires[22].level)
    assert seen == [True, False, True]
    led.close()
    assert factory.pin(22).function == "input"


def test_full_and_no_light_are_static_and_a_value_is_read_back(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    led = PWMLED(22, pin_factory=factory)
    seen: list[bool] = []
    for share in (1.0, 0.0):
        led.value = 0.25
        assert led.value == 0.25
        led.value = share
        seen.append(kernel.wires[22].level)
    assert seen == [True, False]
    led.close()


def test_a_taken_line_is_an_error_and_the_others_work(factory: KernelPinFactory) -> None:
    with pytest.raises(PanelError, match="ttyAMA0"):
        factory.pin(14)
    assert not factory.pin(23).state


def test_vanished_lines_are_reported_once_and_end_the_thread(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    reported = threading.Event()
    factory.when_lost = reported.set
    button = Listener(factory, 17)
    request = kernel.wires[17].request
    assert request is not None
    request.vanish()
    assert reported.wait(SOON_S)
    assert factory.lost is not None
    assert factory.lost.strerror == "No such device"
    request.gone = False
    button.pin.close()


def test_closing_releases_every_line_and_may_be_repeated(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    Listener(factory, 17).pin.close()
    PWMLED(22, pin_factory=factory).close()
    factory.close()
    factory.close()
    assert all(wire.request is None for wire in kernel.wires.values())
