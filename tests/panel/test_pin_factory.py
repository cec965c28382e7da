"""The inputs of the panel and gpiozero's PWMLED on our pin factory: asserted is the wire."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from gpiozero import PWMLED

from appliance.errors import PanelError
from appliance.panel.gpio_lines import GpioChip
from appliance.panel.pin_factory import KernelPinFactory
from tests.panel.kernel import Kernel

SOON_S = 20.0  # a limit for a thread on a busy machine, never waited for


@pytest.fixture
def kernel() -> Kernel:
    return Kernel({"/dev/gpiochip4": "pinctrl-rp1"}, taken={14: "ttyAMA0"})


@pytest.fixture
def factory(kernel: Kernel) -> Iterator[KernelPinFactory]:
    made = KernelPinFactory(GpioChip("", kernel.files, kernel.opened))
    yield made
    made.close()


class Listener:
    """An input that is pulled up and listened to, as gpio.py has it."""

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
        """Whether something was heard since the last time."""
        heard = self._woken.wait(SOON_S)
        self._woken.clear()
        return heard


def test_a_button_is_pressed_by_a_low_line(factory: KernelPinFactory, kernel: Kernel) -> None:
    button = Listener(factory, 17)
    assert button.pin.state == 1
    kernel.wires[17].pull(up=False)
    assert button.waited()
    assert button.pin.state == 0
    kernel.wires[17].pull(up=None)
    assert button.waited()
    assert button.heard == [False, True]


def test_two_lines_are_heard_by_one_thread_and_not_mixed_up(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    one, other = Listener(factory, 17), Listener(factory, 27)
    kernel.wires[27].pull(up=False)
    assert other.waited()
    assert (one.heard, other.heard) == ([], [False])


def test_an_input_that_was_closed_is_not_heard(factory: KernelPinFactory, kernel: Kernel) -> None:
    closed, open_ = Listener(factory, 17), Listener(factory, 27)
    closed.pin.close()
    kernel.wires[17].pull(up=False)
    kernel.wires[27].pull(up=False)
    assert open_.waited()
    assert closed.heard == []


def test_a_led_is_lit_and_dark_and_an_input_after_it_was_closed(
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


def test_full_light_and_none_are_set_once_and_a_share_stays_what_was_asked(
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


def test_a_taken_line_is_told_and_the_others_are_there(factory: KernelPinFactory) -> None:
    with pytest.raises(PanelError, match="ttyAMA0"):
        factory.pin(14)
    assert not factory.pin(23).state


def test_lines_that_vanish_are_told_once_and_end_the_thread(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    told = threading.Event()
    factory.when_lost = told.set
    button = Listener(factory, 17)
    request = kernel.wires[17].request
    assert request is not None
    request.vanish()
    assert told.wait(SOON_S)
    assert factory.lost is not None
    assert factory.lost.strerror == "No such device"
    request.gone = False
    button.pin.close()


def test_closing_frees_every_line_and_may_be_done_twice(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    Listener(factory, 17).pin.close()
    PWMLED(22, pin_factory=factory).close()
    factory.close()
    factory.close()
    assert all(wire.request is None for wire in kernel.wires.values())
