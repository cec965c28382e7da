"""The table of boards that button and light can be wired to: the 40-pin header, or a HAT.

A HAT is recognised by its EEPROM, whose content the firmware copies to the device tree (HAT and
HAT+: `hat/vendor`, `hat/product`). A HAT without an EEPROM cannot be recognised: its owner sets
`panel.gpio` to its name. **None of the HATs has been tested**: their line numbers come from the
makers' documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from appliance.errors import PanelError
from appliance.panel.pins import PINS, PanelPin

Light = Literal["rgb", "red_green", "single", "ws2812", "apa102", "none"]


@dataclass(frozen=True)
class Board:
    """One row.

    name     its value in `panel.gpio`
    pins     of its button and LEDs; what has no pin is not on the board
    light    kind of its light, if `panel.light` is auto
    leds     number of LEDs of a strip
    spi      device of a strip's bus
    vendor   regular expression that matches the EEPROM's complete vendor; "": it has no EEPROM
    product  the same for the product; both ignore case
    source   document that the line numbers are from
    """

    name: str
    pins: tuple[PanelPin, ...]
    light: Light
    leds: int = 0
    spi: str = ""
    vendor: str = ""
    product: str = ""
    source: str = ""

    def pin(self, what: str) -> PanelPin:
        """The pin of `what`. Raises PanelError if the board has none."""
        for row in self.pins:
            if row.what == what:
                return row
        raise PanelError(
            f"A panel of `{self.name}` has no pin for {what.replace('_', ' ')}.",
            "Wire it to the header: `panel.gpio: header`, hw/pinout.md.",
        )


def _button(line: int, header: int) -> PanelPin:
    return PanelPin("button", line, header, "in", "up", "low")


def _led(what: str, line: int, header: int) -> PanelPin:
    return PanelPin(what, line, header, "out", "none", "high")


HEADER = Board("header", PINS, "rgb", source="hw/pinout.md")
BOARDS: tuple[Board, ...] = (
    HEADER,
    Board(
        "aiy-voice", (_button(23, 16), _led("light_red", 25, 22)), "single",
        vendor=r"Google, Inc\.", product=r"Google AIY audioHAT Board v1",
        source="google/aiyprojects-raspbian, voice_hat: button 23, LED 25",
    ),
    Board(
        "codec-zero",
        (_button(27, 13), _led("light_red", 24, 18), _led("light_green", 23, 16)), "red_green",
        vendor=r"Raspberry Pi( Ltd\.)?|IQaudIO Limited www\.iqaudio\.com",
        product=r".*codec ?zero.*",
        source="raspberrypi/documentation, Codec Zero: button 27, green LED 23, red LED 24",
    ),
    Board(
        "respeaker-2-mics", (_button(17, 11),), "apa102", leds=3, spi="/dev/spidev0.1",
        source="Seeed's wiki: button 17, 3 APA102 on SPI0's second select line",
    ),
)  # fmt: skip

# HATs that leave the panel's pins of the header free: vendor and product, as in `Board`.
PASSING: tuple[tuple[str, str], ...] = (
    (r"Raspberry Pi( Ltd\.?)?", r"(Raspberry Pi )?(M\.2|AI) HAT\+.*"),
)


def named(name: str) -> Board:
    """The row of that name, or the header's for any other name (the keyboard uses its pins)."""
    return next((board for board in BOARDS if board.name == name), HEADER)


def of_hat(vendor: str, product: str) -> Board | None:
    """The row to use with this HAT: its own, or the header's; None if the HAT is unknown."""
    for board in BOARDS:
        if board.vendor and _is(vendor, board.vendor) and _is(product, board.product):
            return board
    for its_vendor, its_product in PASSING:
        if _is(vendor, its_vendor) and _is(product, its_product):
            return HEADER
    return None


def _is(text: str, pattern: str) -> bool:
    return re.fullmatch(pattern, text.strip(), re.IGNORECASE) is not None
