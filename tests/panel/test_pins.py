"""The table of the panel's pins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.panel.pins import GROUNDS, HEADER, PINS, PanelPin, pin


@pytest.mark.parametrize("row", PINS, ids=lambda row: row.what)
def test_each_line_matches_its_header_pin(row: PanelPin) -> None:
    assert HEADER[row.line] == row.header


def test_no_two_rows_share_a_line_or_a_name() -> None:
    assert len({row.line for row in PINS}) == len({row.what for row in PINS}) == len(PINS)


def test_no_line_of_sound_hats_is_used() -> None:
    i2c, i2s, spi, uart = {2, 3}, {18, 19, 20, 21}, {7, 8, 9, 10, 11}, {14, 15}
    assert not {row.line for row in PINS} & (i2c | i2s | spi | uart)


def test_a_pin_is_found_by_name_and_an_unknown_one_is_an_error() -> None:
    assert pin("button").line == 17
    with pytest.raises(KeyError, match="doorbell"):
        pin("doorbell")


def test_the_pinout_page_matches_the_table() -> None:
    page = (Path(__file__).parents[2] / "hw" / "pinout.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.fullmatch(r"\|( [^|]+ \|){6}", line)][1:]
    table = [
        f"| {p.what} | {p.line} | {p.header} | {p.direction} | {p.pull} | {p.sense} |" for p in PINS
    ]
    assert rows == table


def test_the_bill_of_materials_has_a_wire_for_every_pin_that_is_used() -> None:
    bill = (Path(__file__).parents[2] / "hw" / "bom.md").read_text(encoding="utf-8")
    grounds = [ground for what, ground in GROUNDS.items() if what != "strip"]
    assert f"| wires | {len(PINS) + len(grounds)} jumper wires" in bill
