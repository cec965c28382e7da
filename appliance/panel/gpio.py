"""The panel's GPIO lines through gpiozero: `edges()` reads the inputs, `show()` sets the light.

With `gpio: keyboard` the pins are gpiozero's mock pins, whose levels `drive` sets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from appliance.errors import PanelBusy, PanelError
from appliance.panel.boards import Board, named
from appliance.panel.led_strip import APA102_HZ, WS2812_HZ, LedStrip, apa102, ws2812
from appliance.panel.light import Colour
from appliance.panel.pins import PanelPin
from appliance.pollable_queue import PollableQueue
from appliance.settings import PanelSettings

CONSUMER, EARLY = "interlude", "interlude-light"  # consumer names, shown by `gpioinfo`
LEDS, SPI = 12, "/dev/spidev0.0"  # defaults of a strip on the header


class LightOutput(Protocol):
    """A light that can show a colour."""

    def show(self, colour: Colour) -> None: ...
    def close(self) -> None: ...


class GpioWires:
    """The inputs, by their names in the pin table, and the light.

    `fileno` is readable when there are edges. Raises PanelError if the lines cannot be opened.
    """

    def __init__(self, settings: PanelSettings, consumer: str = CONSUMER) -> None:
        self._edges: PollableQueue[tuple[str, bool, float]] = PollableQueue(most=1000)
        self._inputs: dict[str, _Input] = {}
        self._light: LightOutput | None = None
        self._board = named(settings.gpio)
        self._factory: Any = None
        try:
            self._factory, self.access = _factory(settings, consumer)
            self._factory.when_lost = self._edges.wake  # mock pins are never lost
            for name in ("button", "mute_switch") if settings.mute_switch else ("button",):
                self._inputs[name] = _Input(self._factory, self._board.pin(name), self._queue_edge)
            self._light = _light(settings, self._board, self._factory)
        except PanelError:
            self.close()  # release the lines that were opened before the failure
            raise
        except Exception as error:
            self.close()
            raise _problem(error) from error

    def fileno(self) -> int:
        return self._edges.fileno()

    def close(self) -> None:
        for device in (*self._inputs.values(), self._light):
            if device is not None:
                device.close()
        if self._factory is not None:
            self._factory.close()
        self._edges.close()

    def levels(self) -> dict[str, bool]:
        """For each input, whether it is pressed or off now."""
        return {name: wire.active() for name, wire in self._inputs.items()}

    def edges(self) -> list[tuple[str, bool, float]]:
        """Edges since the last call: input, whether it is pressed or off from then on, and when
        (CLOCK_MONOTONIC, s). Raises PanelError when the lines are gone."""
        found = self._edges.pop_all()
        lost: OSError | None = getattr(self._factory, "lost", None)
        if lost is not None:
            raise PanelError(f"The header's pins are gone ({lost.strerror}).", "See hw/pinout.md.")
        return found

    def show(self, colour: Colour) -> None:
        """Show a colour. Raises OSError if a strip's bus fails."""
        if self._light is not None:
            self._light.show(colour)

    def drive(self, name: str, active: bool) -> None:
        """Set the level of an input for the keyboard. Works with mock pins only; an input that is
        not wired is ignored."""
        if name in self._inputs:
            row = self._board.pin(name)
            wire = self._factory.pin(row.line)
            (wire.drive_high if (row.sense == "high") == active else wire.drive_low)()

    def _queue_edge(self, name: str, active: bool, at_s: float) -> None:
        """Queue an edge; this runs in the factory's thread."""
        self._edges.put((name, active, at_s))


class _Input:
    """One input with a pull resistor and edge events. gpiozero has only a weak reference to the
    handler, so the owner must keep this object."""

    def __init__(
        self, factory: Any, row: PanelPin, on_edge: Callable[[str, bool, float], None]
    ) -> None:
        self._row = row
        self._on_edge = on_edge
        self._pin = factory.pin(row.line)
        self._pin.input_with_pull(row.pull)
        self._pin.when_changed = self._changed

    def active(self) -> bool:
        return self._is_active(self._pin.state)

    def close(self) -> None:
        self._pin.when_changed = None
        self._pin.close()

    def _is_active(self, level: object) -> bool:
        return bool(level) == (self._row.sense == "high")

    def _changed(self, at_s: float, level: object) -> None:
        self._on_edge(self._row.what, self._is_active(level), at_s)


# Kind of LED light → its pins, and what each shows of red, green, blue. A light that lacks a colour
# shows it by the ones it has: each pattern can be recognised by its rhythm as well.
_LEDS: dict[str, tuple[tuple[str, Callable[[Colour], float]], ...]] = {
    "rgb": (
        ("light_red", lambda c: c[0]),
        ("light_green", lambda c: c[1]),
        ("light_blue", lambda c: c[2]),
    ),
    "red_green": (("light_red", lambda c: c[0]), ("light_green", lambda c: max(c[1], c[2]))),
    "single": (("light_red", max),),
}  # fmt: skip


class _Led:
    """LEDs on pins of the header, each dimmed by PWM."""

    def __init__(self, kind: str, board: Board, factory: Any) -> None:
        from gpiozero import PWMLED

        rows = _LEDS[kind]
        self._leds = [(PWMLED(board.pin(what).line, pin_factory=factory), of) for what, of in rows]

    def show(self, colour: Colour) -> None:
        for led, of in self._leds:
            led.value = of(colour)

    def close(self) -> None:
        for led, _ in self._leds:
            led.close()


def _light(settings: PanelSettings, board: Board, factory: Any) -> LightOutput | None:
    from appliance.panel.spi import SpiBus

    kind = board.light if settings.light == "auto" else settings.light
    if kind in _LEDS:
        return _Led(kind, board, factory)
    if kind == "none" or settings.gpio == "keyboard":
        return None
    path, leds = settings.spi or board.spi or SPI, settings.leds or board.leds or LEDS
    if kind == "ws2812":
        return LedStrip(SpiBus(path, WS2812_HZ), ws2812, leds)
    return LedStrip(SpiBus(path, APA102_HZ), apa102, leds)


def _factory(settings: PanelSettings, consumer: str) -> tuple[Any, str]:
    """gpiozero's pin factory and its name: mock pins, or the kernel's lines through libgpiod."""
    if settings.gpio == "keyboard":
        from gpiozero.pins.mock import MockFactory, MockPWMPin

        return MockFactory(pin_class=MockPWMPin), "keyboard"
    from appliance.panel.gpio_lines import GpioChip
    from appliance.panel.pin_factory import KernelPinFactory

    chip = GpioChip(settings.chip, consumer=consumer)
    return KernelPinFactory(chip), f"libgpiod, {chip.label}"


def _problem(error: Exception) -> PanelError:
    if isinstance(error, ImportError):
        return PanelError("The panel needs `gpiod` to reach the header's pins.",
                          "`pip install gpiod`, or set `panel.gpio: none`.")  # fmt: skip
    text = str(error) or type(error).__name__
    if "permission" in text.lower() or "can not open gpiochip" in text.lower():
        return PanelError(f"The header's pins cannot be opened ({text}).",
                          "Is this a Pi, and is the box's user in group `gpio`?")  # fmt: skip
    if "busy" in text.lower():
        return PanelBusy(f"A pin of the panel is taken ({text}).",
                          "Compare hw/pinout.md with what else is on the header.")  # fmt: skip
    return PanelError(f"The panel's pins do not work ({text}).", "See hw/pinout.md.")
