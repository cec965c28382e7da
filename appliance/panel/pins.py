"""The default table of GPIO lines; a test compares hw/pinout.md with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class PanelPin:
    """One row.

    what    what is wired to it
    line    BCM number: the offset on the chip
    header  pin of the 40-pin header
    pull    the Pi's internal resistor
    sense   of an input: the level that means "pressed" or "off"; of an output: the lit level
    """

    what: str
    line: int
    header: int
    direction: Literal["in", "out"]
    pull: Literal["up", "down", "none"]
    sense: Literal["low", "high"]


# These avoid I2C (2, 3), UART (14, 15), I2S (18 to 21) and SPI0 (7 to 11), which HATs use.
PINS: tuple[PanelPin, ...] = (
    PanelPin("button",      17, 11, "in",  "up",   "low"),
    PanelPin("mute_switch", 27, 13, "in",  "up",   "high"),  # a loose wire cuts the microphone
    PanelPin("light_red",   22, 15, "out", "none", "high"),
    PanelPin("light_green", 23, 16, "out", "none", "high"),
    PanelPin("light_blue",  24, 18, "out", "none", "high"),
)  # fmt: skip

# Label of the chip that the header's lines are on: Pi 5 · Pi 4, 400 · Pi 3, Zero 2.
HEADERS = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835")

# Ground pins of the header, one for each device that is wired.
GROUNDS: dict[str, int] = {"button": 9, "mute_switch": 14, "light": 20, "strip": 25}

# A strip in place of the LED uses SPI0's lines, through the SPI driver. WS2812 has no clock.
STRIP: tuple[PanelPin, ...] = (
    PanelPin("strip_data",  10, 19, "out", "none", "high"),
    PanelPin("strip_clock", 11, 23, "out", "none", "high"),
)  # fmt: skip

# The 40-pin header of every Pi since the B+: BCM line → pin.
HEADER: dict[int, int] = {
    2: 3, 3: 5, 4: 7, 14: 8, 15: 10, 17: 11, 18: 12, 27: 13, 22: 15, 23: 16, 24: 18, 10: 19,
    9: 21, 25: 22, 11: 23, 8: 24, 7: 26, 0: 27, 1: 28, 5: 29, 6: 31, 12: 32, 13: 33, 19: 35,
    16: 36, 26: 37, 20: 38, 21: 40,
}  # fmt: skip


def pin(what: str) -> PanelPin:
    """The row of that name. Raises KeyError."""
    for row in PINS:
        if row.what == what:
            return row
    raise KeyError(f"no pin is called {what}")
