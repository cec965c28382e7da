"""Addressable LEDs: encodes one colour for all of them as the bytes for their bus. Pure except for
`LedStrip`, which writes the bytes.

WS2812 and compatible LEDs have one data line and no clock: a bit is a short or a long pulse
(WS2812B's data sheet: 0.4 or 0.8 µs of 1.25 µs), made of three bits of an SPI bus whose clock is
not connected. APA102 and SK9822 (ReSpeaker's HATs) have a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from appliance.panel.light import OFF, Colour

WS2812_HZ = 2_400_000  # three SPI bits are 1.25 µs
_WS2812_LATCH = bytes(90)  # 300 µs low latches the data (280 µs by the data sheet)

APA102_HZ = 4_000_000
_APA102_BEGIN = bytes(4)
_APA102_FULL = 0b1110_0000 | 31  # full global brightness: the colour is scaled already


# A byte of colour → three on the wire: 110 for each 1, 100 for each 0, the highest bit first.
def _pulses(byte: int) -> bytes:
    bits = ("110" if byte >> bit & 1 else "100" for bit in range(7, -1, -1))
    return int("".join(bits), 2).to_bytes(3, "big")


_PULSES = tuple(_pulses(byte) for byte in range(256))


class LedBus(Protocol):
    """The bus of a strip: spi.SpiBus, or a list in tests."""

    def write(self, data: bytes) -> None: ...
    def close(self) -> None: ...


def ws2812(colour: Colour, count: int) -> bytes:
    """Green, red, blue for each LED, after zeros, since an idle data line may be high."""
    red, green, blue = _bytes(colour)
    led = _PULSES[green] + _PULSES[red] + _PULSES[blue]
    return bytes(2) + led * count + _WS2812_LATCH


def apa102(colour: Colour, count: int) -> bytes:
    """Brightness, blue, green, red for each LED. Each LED delays the clock by half a bit, so that
    the last one needs `count / 2` more; SK9822 shows the frame at 32 further zeros."""
    red, green, blue = _bytes(colour)
    led = bytes((_APA102_FULL, blue, green, red))
    return _APA102_BEGIN + led * count + bytes(4 + (count + 15) // 16)


def _bytes(colour: Colour) -> tuple[int, int, int]:
    red, green, blue = (round(255 * min(1.0, max(0.0, part))) for part in colour)
    return red, green, blue


class LedStrip:
    """A strip whose LEDs all show the same colour."""

    def __init__(self, bus: LedBus, encode: Callable[[Colour, int], bytes], count: int) -> None:
        self._bus = bus
        self._encode = encode
        self._count = count

    def show(self, colour: Colour) -> None:
        """Raises OSError when the bus fails."""
        self._bus.write(self._encode(colour, self._count))

    def close(self) -> None:
        self.show(OFF)
        self._bus.close()
