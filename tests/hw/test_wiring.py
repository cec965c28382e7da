"""The drawing, the overlay and the lists in hw/ agree with the table of pins."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from appliance.panel.pins import GROUNDS, HEADER, PINS, STRIP, PanelPin, pin
from scripts.wiring import as_svg, place

HW = Path(__file__).parents[2] / "hw"
SVG = "{http://www.w3.org/2000/svg}"
HEADER_GROUNDS = (6, 9, 14, 20, 25, 30, 34, 39)  # of every Pi with 40 pins
INPUTS = [row for row in PINS if row.direction == "in"]
OUTPUTS = [row for row in PINS if row.direction == "out"]


def page(name: str) -> str:
    return (HW / name).read_text(encoding="utf-8")


def test_the_drawing_of_the_mute_switch_names_the_pins_of_the_table() -> None:
    switch = pin("mute_switch")
    drawn = page("mute.svg")
    assert f"mute_switch: BCM {switch.line}, pin {switch.header}" in drawn
    assert f"ground: pin {GROUNDS['mute_switch']}" in drawn
    data = re.search(r"data line \(BCM (\d+), pin (\d+)\)", drawn)
    assert data is not None
    assert HEADER[int(data[1])] == int(data[2])
    ET.fromstring(drawn)  # noqa: S314 - our own drawing


def wires() -> list[list[tuple[int, int]]]:
    """The corners of each wire, starting at its pin."""
    drawn = ET.fromstring(as_svg())  # noqa: S314 - our own drawing
    found = []
    for line in drawn.iter(f"{SVG}polyline"):
        corners = (corner.split(",") for corner in (line.get("points") or "").split())
        found.append([(int(x), int(y)) for x, y in corners])
    return found


@pytest.mark.parametrize("header", [*(row.header for row in PINS), *list(GROUNDS.values())[:3]])
def test_a_wire_begins_at_each_used_pin(header: int) -> None:
    assert [wire[0] for wire in wires()].count(place(header)) == 1


def test_no_two_wires_of_the_drawing_cross_or_touch() -> None:
    dots = [{dot for a, b in pairwise(wire) for dot in _dots(a, b)} for wire in wires()]
    for number, one in enumerate(dots):
        assert not any(one & other for other in dots[number + 1 :])


def _dots(a: tuple[int, int], b: tuple[int, int]) -> set[tuple[int, int]]:
    (ax, ay), (bx, by) = a, b
    assert ax == bx or ay == by
    xs, ys = range(min(ax, bx), max(ax, bx) + 1), range(min(ay, by), max(ay, by) + 1)
    return {(x, y) for x in xs for y in ys}


def test_every_ground_pin_is_a_ground() -> None:
    assert set(GROUNDS.values()) <= set(HEADER_GROUNDS)
    assert not set(HEADER_GROUNDS) & {row.header for row in (*PINS, *STRIP)}


def test_the_page_names_the_ground_beside_each_part() -> None:
    for header in GROUNDS.values():
        assert re.search(rf"(ground \(pin {header}\)|Ground: pin {header}\b)", page("pinout.md"))


@pytest.mark.parametrize("row", STRIP, ids=lambda row: row.what)
def test_the_page_has_the_lines_of_an_led_strip(row: PanelPin) -> None:
    assert f"| {row.what} | {row.line} | {row.header} |" in page("pinout.md")


def compiled(source: Path, made: Path) -> tuple[int, str]:
    """The exit status of dtc and its warnings."""
    command = ["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", str(made), str(source)]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    return run.returncode, run.stderr


@pytest.mark.process
def test_the_overlay_pulls_up_the_inputs_and_nothing_else(tmp_path: Path) -> None:
    made = tmp_path / "panel.dtbo"
    assert compiled(HW / "interlude-panel.dts", made) == (0, "")
    again = ["dtc", "-I", "dtb", "-O", "dts", "-q", str(made)]
    text = subprocess.run(again, check=True, capture_output=True, text=True).stdout
    pins = re.findall(r"gpio(\d+)", re.findall(r"pins = ([^;]*);", text)[0])
    assert sorted(map(int, pins)) == sorted(row.line for row in INPUTS)
    assert "bias-pull-up;" in text
    assert {row.pull for row in INPUTS} == {"up"}


@pytest.mark.process
def test_an_overlay_with_a_syntax_error_does_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "slip.dts"
    source.write_text(page("interlude-panel.dts").replace("bias-pull-up;", "bias-pull-up"))
    assert compiled(source, tmp_path / "x")[0] != 0


def test_config_txt_sets_the_lines_of_the_table() -> None:
    lines = [line for line in page("config.txt").splitlines() if line.startswith("gpio=")]
    inputs = ",".join(str(row.line) for row in INPUTS)
    outputs = ",".join(str(row.line) for row in OUTPUTS)
    assert lines == [f"gpio={inputs}=ip,pu", f"gpio={outputs}=op,dh"]


def test_the_bill_of_materials_has_a_row_for_each_wired_part() -> None:
    parts = re.findall(r"^\| ([a-z ]+) \|", page("bom.md"), re.MULTILINE)
    assert {"button", "mute switch", "resistors", "sound", "cooling", "supply"} <= set(parts)


@pytest.mark.parametrize("name", ["pinout.md", "bom.md", "audio.md"])
def test_each_page_says_that_it_was_not_tried_on_a_pi_and_its_links_exist(name: str) -> None:
    assert re.search(r"\*\*(No|Nothing|None)\b", page(name))
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page(name)):
        assert (HW / target).exists(), target
