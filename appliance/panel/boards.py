"""What the button and the light are wired to: the 40-pin header, or a HAT that has its own.

One table. A HAT is recognised by what its EEPROM says, which the firmware puts into the device
tree (HATs and HAT+ alike: `hat/vendor`, `hat/product`). A HAT without an EEPROM cannot be
recognised: its owner names its row in `panel.gpio`. **None of the HATs was run**: their lines come
from their makers' own documents.
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

    name     as `panel.gpio` has it
    pins     of what is on it; what is missing is not there
    light    kind of its light, where `panel.light` is auto
    leds     of a strip
    spi      bus of a strip
    vendor   regular expression for the whole of the EEPROM's vendor; "": it has no EEPROM
    product  likewise; the letters' case does not matter in either
    source   of the lines
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
        """Raises PanelError where there is none for it."""
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

# HATs that leave the header's pins to others: vendor and product, as in `Board`.
PASSING: tuple[tuple[str, str], ...] = (
    (r"Raspberry Pi( Ltd\.?)?", r"(Raspberry Pi )?(M\.2|AI) HAT\+.*"),
)


def named(name: str) -> Board:
    """The row of that name; the header's for those that are none (the keyboard is wired alike)."""
    return next((board for board in BOARDS if board.name == name), HEADER)


def of_hat(vendor: str, product: str) -> Board | None:
    """What to use with this HAT on: its own row, the header's; None if it is not known."""
    for board in BOARDS:
        if board.vendor and _is(vendor, board.vendor) and _is(product, board.product):
            return board
    for its_vendor, its_product in PASSING:
        if _is(vendor, its_vendor) and _is(product, its_product):
            return HEADER
    return None


def _is(text: str, pattern: str) -> bool:
    return re.fullmatch(pattern, text.strip(), re.IGNORECASE) is not None
