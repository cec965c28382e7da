"""Addressable LEDs: the data on the wire, bit by bit."""

from __future__ import annotations

import pytest

from appliance.panel.led_strip import WS2812_HZ, LedStrip, apa102, ws2812
from appliance.panel.light import OFF

RED, HALF_BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 0.5)
TRANSFER = 4096  # bytes that the kernel's driver accepts in one transfer
MOST_LEDS = 144  # a metre of the densest strip


class Wire:
    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.frames.append(data)

    def close(self) -> None:
        self.closed = True


def pulses(data: bytes) -> list[float]:
    """The length of each high pulse in µs."""
    bits = "".join(f"{byte:08b}" for byte in data)
    return [len(run) / WS2812_HZ * 1e6 for run in bits.split("0") if run]


def test_ws2812_pulses_have_the_data_sheets_lengths() -> None:
    """T0H 0.25 to 0.55 µs, T1H 0.65 to 0.95 µs; green, red, blue; most significant bit first."""
    seen = pulses(ws2812(RED, 1))
    assert len(seen) == 24
    ones = [length > 0.6 for length in seen]
    assert ones == [False] * 8 + [True] * 8 + [False] * 8
    assert all(0.65 <= length <= 0.95 for length, one in zip(seen, ones, strict=True) if one)
    assert all(0.25 <= length <= 0.55 for length, one in zip(seen, ones, strict=True) if not one)


def test_a_ws2812_frame_ends_with_the_reset_pause() -> None:
    frame = ws2812(RED, 12)
    rest = len(frame) - len(frame.rstrip(b"\0"))
    assert rest * 8 / WS2812_HZ >= 280e-6
    assert len(pulses(frame)) == 12 * 24


def test_an_apa102_frame_has_a_start_the_leds_and_enough_end_clocks() -> None:
    frame = apa102(HALF_BLUE, 3)
    assert frame[:4] == bytes(4)
    assert frame[4:16] == bytes((0xFF, 128, 0, 0)) * 3
    assert not any(frame[16:])
    for count in (1, 3, 12, 60, MOST_LEDS):
        assert 8 * len(apa102(RED, count)[4 + 4 * count :]) >= 32 + count / 2


@pytest.mark.parametrize("encode", [ws2812, apa102])
def test_the_longest_strip_fits_into_one_transfer(encode: object) -> None:
    assert callable(encode)
    assert len(encode((1.0, 1.0, 1.0), MOST_LEDS)) <= TRANSFER


def test_colour_components_are_clamped() -> None:
    assert apa102((7.0, -1.0, 0.0), 1) == apa102((1.0, 0.0, 0.0), 1)


def test_a_closed_strip_is_dark() -> None:
    wire = Wire()
    strip = LedStrip(wire, apa102, 3)
    strip.show(RED)
    strip.close()
    assert wire.frames == [apa102(RED, 3), apa102(OFF, 3)]
    assert wire.closed
