"""The wires, by gpiozero: no other file touches it. Edges come out of `edges()`, light goes in.

With `gpio: keyboard` the pins are gpiozero's mock ones, and `drive` takes the place of wires.
"""

from __future__ import annotations

import os
import time
from collections import deque
from typing import Any

from appliance.errors import PanelError
from appliance.panel.light import Colour
from appliance.panel.pins import Pin, pin
from appliance.settings import Panel


class Wires:
    """Inputs by the name of their row, and the light. `fileno` is readable when there are edges.

    Raises PanelError where the lines cannot be had.
    """

    def __init__(self, settings: Panel) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._edges: deque[tuple[str, bool, float]] = deque(maxlen=1000)
        self._inputs: dict[str, Any] = {}
        try:
            self._factory = _factory(settings.gpio)
            for name in ("button", "mute_switch") if settings.mute_switch else ("button",):
                self._inputs[name] = self._input(pin(name))
            self._light = self._make_light(settings.light)
        except Exception as error:
            raise _problem(error) from error

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        for device in (*self._inputs.values(), self._light):
            if device is not None:
                device.close()
        self._factory.close()
        os.close(self._fd)

    def levels(self) -> dict[str, bool]:
        """Of each input, now: whether it is pressed, or off."""
        return {
            name: bool(device.value) == (pin(name).sense == "low")
            for name, device in self._inputs.items()
        }

    def edges(self) -> list[tuple[str, bool, float]]:
        """Since the last look: input, whether it is pressed or off from then on, and when
        (CLOCK_MONOTONIC, s)."""
        try:
            os.eventfd_read(self._fd)
        except BlockingIOError:
            return []
        found = []
        while self._edges:
            found.append(self._edges.popleft())
        return found

    def show(self, colour: Colour) -> None:
        """A single light shows the brightest of the three."""
        if self._light is not None:
            single = not hasattr(self._light, "red")
            self._light.value = max(colour) if single else colour

    def drive(self, name: str, active: bool) -> None:
        """The keyboard's finger: the wire of that input goes to its level. Only mock pins have it;
        of an input that is not wired nothing comes."""
        if name in self._inputs:
            row = pin(name)
            wire = self._factory.pin(row.line)
            (wire.drive_high if (row.sense == "high") == active else wire.drive_low)()

    def _input(self, row: Pin) -> Any:
        """Every input is pulled up: gpiozero's "active" is low, the row says what that means."""
        from gpiozero import DigitalInputDevice

        device = DigitalInputDevice(row.line, pull_up=True, pin_factory=self._factory)
        low, high = row.sense == "low", row.sense == "high"
        device.when_activated = lambda: self._note(row.what, low)
        device.when_deactivated = lambda: self._note(row.what, high)
        return device

    def _note(self, name: str, active: bool) -> None:
        """In gpiozero's own thread: only pass it on."""
        self._edges.append((name, active, time.monotonic()))
        os.eventfd_write(self._fd, 1)

    def _make_light(self, kind: str) -> Any:
        from gpiozero import PWMLED, RGBLED

        red, green, blue = (pin(f"light_{colour}").line for colour in ("red", "green", "blue"))
        if kind == "rgb":
            return RGBLED(red, green, blue, pin_factory=self._factory)
        if kind == "single":
            return PWMLED(red, pin_factory=self._factory)
        return None


def _factory(kind: str) -> Any:
    if kind == "keyboard":
        from gpiozero.pins.mock import MockFactory, MockPWMPin

        return MockFactory(pin_class=MockPWMPin)
    from gpiozero.pins.lgpio import LGPIOFactory

    return LGPIOFactory()


def _problem(error: Exception) -> PanelError:
    if isinstance(error, ImportError):
        return PanelError("The panel needs `lgpio` to reach the header's pins.",
                          "`pip install lgpio`, or set `panel.gpio: none`.")  # fmt: skip
    text = str(error) or type(error).__name__
    if "permission" in text.lower() or "can not open gpiochip" in text.lower():
        return PanelError(f"The header's pins cannot be opened ({text}).",
                          "Is this a Pi, and is the box's user in group `gpio`?")  # fmt: skip
    if "busy" in text.lower():
        return PanelError(f"A pin of the panel is taken ({text}).",
                          "Compare hw/pinout.md with what else is on the header.")  # fmt: skip
    return PanelError(f"The panel's pins do not work ({text}).", "See hw/pinout.md.")
