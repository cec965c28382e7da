"""gpiozero's own devices on our pin factory: what is asserted is the wire."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from gpiozero import LED, PWMLED, Button
from gpiozero.exc import (
    PinFixedPull,
    PinInvalidEdges,
    PinInvalidFunction,
    PinInvalidPull,
    PinInvalidState,
    PinPWMFixedValue,
    PinSetInput,
)

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


def test_a_button_of_gpiozeros_is_pressed_by_a_low_line(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    button = Button(17, pin_factory=factory)
    pressed, released = threading.Event(), threading.Event()
    button.when_pressed, button.when_released = pressed.set, released.set
    kernel.wires[17].pull(up=False)
    assert pressed.wait(SOON_S)
    assert button.is_pressed
    kernel.wires[17].pull(up=None)
    assert released.wait(SOON_S)
    button.close()


def test_two_lines_are_heard_by_one_thread_and_not_mixed_up(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    one, other = Button(17, pin_factory=factory), Button(27, pin_factory=factory)
    heard: list[int] = []
    second = threading.Event()
    one.when_pressed = lambda: heard.append(17)

    def other_pressed() -> None:
        heard.append(27)
        second.set()

    other.when_pressed = other_pressed
    kernel.wires[27].pull(up=False)
    assert second.wait(SOON_S)
    assert heard == [27]
    one.close()
    other.close()


def test_an_edge_that_nobody_asked_for_is_no_event(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    pin = factory.pin(17)
    pin.input_with_pull("up")
    pin.edges = "rising"
    heard: list[float] = []
    woken = threading.Event()

    class Ear:
        def hear(self, ticks: float, state: bool) -> None:
            heard.append(state)
            woken.set()

    ear = Ear()
    pin.when_changed = ear.hear
    kernel.wires[17].pull(up=False)
    kernel.wires[17].pull(up=True)
    assert woken.wait(SOON_S)
    assert heard == [True]
    assert pin.edges == "rising"


def test_a_led_is_lit_and_dark_and_an_input_after_it_was_closed(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    led = LED(22, pin_factory=factory)
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


def test_debounce_is_the_kernels(factory: KernelPinFactory, kernel: Kernel) -> None:
    button = Button(17, bounce_time=0.02, pin_factory=factory)
    assert kernel.wires[17].settings.debounce_period.total_seconds() == pytest.approx(0.02)
    assert factory.pin(17).bounce == pytest.approx(0.02)
    button.close()


def test_what_makes_no_sense_is_gpiozeros_own_error(factory: KernelPinFactory) -> None:
    pin = factory.pin(17)
    pin.function = "input"
    with pytest.raises(PinSetInput):
        pin.state = 1
    with pytest.raises(PinInvalidPull):
        pin.pull = "sideways"
    with pytest.raises(PinInvalidEdges):
        pin.edges = "none"
    with pytest.raises(PinPWMFixedValue):
        pin.frequency = 100
    with pytest.raises(PinInvalidFunction):
        pin.function = "coffee"
    pin.function = "output"
    with pytest.raises(PinFixedPull):
        pin.pull = "up"
    with pytest.raises(PinInvalidState):
        pin.state = 2


def test_a_taken_line_is_told_and_the_others_are_there(factory: KernelPinFactory) -> None:
    with pytest.raises(PanelError, match="ttyAMA0"):
        factory.pin(14)
    assert not factory.pin(23).state


def test_lines_that_vanish_are_told_once_and_end_the_thread(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    told = threading.Event()
    factory.when_lost = told.set
    button = Button(17, pin_factory=factory)
    request = kernel.wires[17].request
    assert request is not None
    request.vanish()
    assert told.wait(SOON_S)
    assert factory.lost is not None
    assert factory.lost.strerror == "No such device"
    request.gone = False
    button.close()


def test_closing_frees_every_line_and_may_be_done_twice(
    factory: KernelPinFactory, kernel: Kernel
) -> None:
    Button(17, pin_factory=factory).close()
    LED(22, pin_factory=factory).close()
    factory.close()
    factory.close()
    assert all(wire.request is None for wire in kernel.wires.values())
