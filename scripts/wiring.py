"""Draws hw/wiring.svg: the wires of the panel, from the table of pins.

The header is drawn in its orientation on the board, with pin 1 at the lower left. Wires reach even
pins from above and odd pins from below; two wires pass between the pins to the other side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from appliance.panel.pins import GROUNDS, PINS, STRIP, pin

PAGE = Path(__file__).resolve().parent.parent / "hw/wiring.svg"
WIDTH, HEIGHT = 900, 600
_PITCH, _LEFT, _TOP, _BOTTOM = 40, 60, 270, 310  # of the header's pins; px
_GROUND = "#222222"
_WIRES: dict[str, str] = {
    "button": "#b36b00",
    "mute_switch": "#7a3fb0",
    "light_red": "#cc2222",
    "light_green": "#1f8a3b",
    "light_blue": "#1f5fcc",
}
_OHMS = {"light_red": 330, "light_green": 82, "light_blue": 82}  # hw/pinout.md says why


@dataclass
class Drawing:
    """SVG elements in the order in which they are painted."""

    parts: list[str] = field(default_factory=list)

    def line(self, colour: str, *points: tuple[int, int]) -> None:
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="3"/>'
        )

    def box(self, x: int, y: int, width: int, height: int, fill: str, edge: str = "#555") -> None:
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}"'
            f' stroke="{edge}"/>'
        )

    def dot(self, x: int, y: int, radius: int, fill: str) -> None:
        self.parts.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"/>')

    def text(
        self, x: int, y: int, words: str, size: int = 15, fill: str = "#222", anchor: str = "middle"
    ) -> None:
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}"'
            f' text-anchor="{anchor}">{words}</text>'
        )

    def svg(self) -> str:
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
            f' viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">\n'
            "<title>The panel on the 40-pin header</title>\n"
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
        )


def place(header: int) -> tuple[int, int]:
    """The x and y of a pin of the header."""
    return _LEFT + _PITCH * ((header - 1) // 2), _BOTTOM if header % 2 else _TOP


def as_svg() -> str:
    drawing = Drawing()
    drawing.text(WIDTH // 2, 30, "The panel on a Pi's 40-pin header", 20)
    where = "2 to 40: at the board's edge. 1 and 2: at the end of the microSD card."
    drawing.text(_LEFT + 19 * _PITCH + 26, 352, where, 12, "#555", "end")
    drawing.box(_LEFT - 26, _TOP - 26, 19 * _PITCH + 52, _BOTTOM - _TOP + 52, "#eef2ee")
    _led(drawing)
    _button(drawing)
    _switch(drawing)
    _header(drawing)
    _legend(drawing)
    return drawing.svg()


def _header(drawing: Drawing) -> None:
    wired = {row.header: _WIRES[row.what] for row in PINS}
    wired |= {GROUNDS[what]: _GROUND for what in ("button", "mute_switch", "light")}
    for number in range(1, 41):
        x, y = place(number)
        drawing.dot(x, y, 11 if number in wired else 8, wired.get(number, "#b8bfb8"))
        if number in wired:
            drawing.text(x, y + 5, str(number), 12, "white")
    for number, dx in ((1, -40), (2, -40), (39, 40), (40, 40)):
        x, y = place(number)
        drawing.text(x + dx, y + 5, str(number), 13, "#555")


def _led(drawing: Drawing) -> None:
    """The LED's four legs, in an order without crossing wires; the longest leg is ground."""
    legs = ("light_green", "light_red", "light_blue", "")
    drawing.box(500, 66, 290, 46, "#fff6d8")
    drawing.text(645, 94, "RGB LED, common cathode", 15)
    for number, what in enumerate(legs):
        x, level = 530 + 75 * number, 186 + 14 * number
        colour = _WIRES[what] if what else _GROUND
        header = pin(what).header if what else GROUNDS["light"]
        drawing.line(colour, *_upward(header), (_lane(header), level), (x, level), (x, 112))
        if what:
            drawing.box(x - 11, 132, 22, 44, "white", colour)
            drawing.text(x + 16, 160, f"{_OHMS[what]} Ω", 13, colour, "start")
        else:
            drawing.text(x + 8, 150, "longest", 13, colour, "start")
            drawing.text(x + 8, 166, "leg", 13, colour, "start")


def _lane(header: int) -> int:
    """The x of a wire that goes up from a pin; the wire of an odd pin passes between the pins."""
    x, _ = place(header)
    return x if header % 2 == 0 else x + _PITCH // 2


def _upward(header: int) -> tuple[tuple[int, int], ...]:
    x, y = place(header)
    return ((x, y),) if header % 2 == 0 else ((x, y), (x, y + 20), (_lane(header), y + 20))


def _button(drawing: Drawing) -> None:
    signal, ground = place(pin("button").header), place(GROUNDS["button"])
    drawing.box(110, 470, 140, 60, "#e8eef8")
    drawing.text(180, 506, "button", 16)
    drawing.line(_GROUND, ground, (ground[0], 390), (140, 390), (140, 470))
    drawing.line(_WIRES["button"], signal, (signal[0], 420), (220, 420), (220, 470))


def _switch(drawing: Drawing) -> None:
    signal, ground = place(pin("mute_switch").header), place(GROUNDS["mute_switch"])
    between = ground[0] + _PITCH // 2 - 6
    drawing.box(340, 470, 200, 60, "#f1e8f8")
    drawing.text(440, 497, "mute switch", 16)
    drawing.text(440, 518, "closed: it hears", 13)
    drawing.line(_WIRES["mute_switch"], signal, (signal[0], 420), (380, 420), (380, 470))
    turn = ground[1] - 20
    drawing.line(
        _GROUND, ground, (ground[0], turn), (between, turn), (between, 390), (500, 390), (500, 470)
    )


def _legend(drawing: Drawing) -> None:
    lines = [
        "A strip instead of the LED:",
        *(f"{row.what.split('_')[1]}: pin {row.header} (BCM {row.line})" for row in STRIP),
        f"ground: pin {GROUNDS['strip']}; 5 V and a level shifter:",
        "see pinout.md",
    ]
    for number, words in enumerate(lines):
        drawing.text(600, 450 + 22 * number, words, 14, "#444", "start")
    caption = "  ".join(f"{row.what}: BCM {row.line}, pin {row.header}." for row in PINS)
    drawing.text(WIDTH // 2, HEIGHT - 18, caption, 12, "#444")
