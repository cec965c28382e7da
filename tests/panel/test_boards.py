"""HATs recognised by their EEPROM, and the lines that each uses."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from appliance.errors import PanelError
from appliance.panel.boards import BOARDS, named, of_hat
from appliance.panel.pins import HEADER
from appliance.settings import PanelSettings


@pytest.mark.parametrize(
    ("vendor", "product", "board"),
    [
        ("Google, Inc.", "Google AIY audioHAT Board v1", "aiy-voice"),
        ("IQaudIO Limited www.iqaudio.com", "Pi-CodecZero", "codec-zero"),
        ("Raspberry Pi Ltd.", "Raspberry Pi Codec Zero", "codec-zero"),
        ("Raspberry Pi", "M.2 HAT+ M Key", "header"),
        ("Raspberry Pi Ltd", "Raspberry Pi AI HAT+", "header"),
    ],
)
def test_a_known_hat_is_recognised_by_vendor_and_product(
    vendor: str, product: str, board: str
) -> None:
    found = of_hat(vendor, product)
    assert found is not None
    assert found.name == board


@pytest.mark.parametrize(
    ("vendor", "product"),
    [
        ("", ""),
        ("PiSugar", "Whisplay HAT"),  # its first edition has 5 V on the button's line
        ("Somebody else", "Google AIY audioHAT Board v1"),
        ("Google, Inc.", "Voice Bonnet"),
        ("Raspberry Pi", "Sense HAT"),
        ("Raspberry Pi", "a copy of M.2 HAT+ M Key"),
    ],
)
def test_any_other_hat_is_unknown(vendor: str, product: str) -> None:
    assert of_hat(vendor, product) is None


def test_every_board_is_a_valid_setting() -> None:
    may = set(get_args(get_type_hints(PanelSettings)["gpio"]))
    assert may - {"auto", "none", "keyboard"} == {board.name for board in BOARDS}


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_boards_lines_match_its_header_pins(board: object) -> None:
    board = named(getattr(board, "name"))  # noqa: B009
    assert board.source
    for pin in board.pins:
        assert HEADER[pin.line] == pin.header
    assert len({pin.line for pin in board.pins}) == len(board.pins)
    assert board.pin("button").pull == "up"  # an unwired button is never pressed


def test_a_missing_pin_raises_an_error_with_a_remedy() -> None:
    with pytest.raises(PanelError) as caught:
        named("codec-zero").pin("mute_switch")
    assert caught.value.problem == "A panel of `codec-zero` has no pin for mute switch."
    assert "`panel.gpio: header`" in caught.value.remedy
