"""Draws docs/architecture/processes.svg: processes, rings and the floor, from the process table.

Names, cores, scheduling, rings and the floor's words come from the sources. The positions of the
boxes and the short description of each process are in this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture/processes.svg"

from appliance.pcm import RATE_HZ  # noqa: E402
from appliance.runtime.ipc.floor import Floor  # noqa: E402
from appliance.runtime.ipc.ring_handles import RingSpec  # noqa: E402
from appliance.runtime.process_table import (  # noqa: E402
    PROCESSES,
    RINGS,
    STATES,
    TRIED,
    Process,
)

WIDTH, HEIGHT = 1050, 776
STYLE = """
  svg { font-family: system-ui, "DejaVu Sans", sans-serif; font-size: 12px; }
  .page { fill: #ffffff; } .band { fill: #f1f4f7; stroke: #d3dae1; }
  .box { fill: #ffffff; stroke: #5b6b7a; } .outside { fill: none; stroke: #5b6b7a; }
  .ring { fill: #fdebd8; stroke: #c4601a; } .floor { fill: #e0f1ee; stroke: #0a7a6c; }
  text { fill: #1b2530; text-anchor: middle; } .small { fill: #4c5a67; font-size: 11px; }
  .name { font-weight: 600; font-size: 14px; } .left { text-anchor: start; }
  line { stroke-width: 1.5; } line.ring { stroke-width: 2.5; }
  .message { stroke: #7a5cc0; stroke-dasharray: 4 4; } .wire { stroke: #5b6b7a; }
  .head-ring { fill: #c4601a; } .head-floor { fill: #0a7a6c; }
  .head-message { fill: #7a5cc0; } .head-wire { fill: #5b6b7a; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0f1419; } .band { fill: #182028; stroke: #33404c; }
    .box { fill: #0f1419; stroke: #8fa1b3; } .outside { stroke: #8fa1b3; }
    .ring { fill: #3d2410; stroke: #f0934a; } .floor { fill: #0d302c; stroke: #3fc2b0; }
    text { fill: #e8eef4; } .small { fill: #b3c0cc; }
    .message { stroke: #b59cf0; } .wire { stroke: #8fa1b3; }
    .head-ring { fill: #f0934a; } .head-floor { fill: #3fc2b0; }
    .head-message { fill: #b59cf0; } .head-wire { fill: #8fa1b3; }
  }
"""


@dataclass(frozen=True)
class Box:
    """A rectangle, in pixels of the drawing."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def middle(self) -> tuple[float, float]:
        """The x and y of its centre."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def contains(self, other: Box) -> bool:
        """Whether the other rectangle is inside this one."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


# Cores → their areas. Core 0 has two, which are drawn as one shape.
BANDS: dict[tuple[int, ...], tuple[Box, ...]] = {
    (0,): (Box(140, 56, 310, 690), Box(140, 506, 1036, 690)),
    (1,): (Box(584, 56, 796, 490),),
    (2, 3): (Box(894, 56, 1036, 490),),
}
PLACES: dict[str, tuple[Box, str]] = {
    "capture": (Box(144, 84, 294, 142), "reads the microphone"),
    "playback": (Box(164, 160, 294, 474), "feeds the loudspeaker"),
    "listener": (Box(600, 84, 780, 286), "echo, onset, end, verdict"),
    "words": (Box(600, 344, 742, 400), "wake and stop words"),
    "speaker": (Box(600, 418, 710, 474), "text to speech"),
    "thinker": (Box(910, 84, 1020, 474), "language model"),
    "conductor": (
        Box(144, 534, 1020, 586),
        "decides who has the floor; keeps the state, runs tools; one channel to each process",
    ),
    "panel": (Box(144, 620, 344, 676), "button, mute switch, light"),
    "page": (Box(482, 620, 682, 676), "the page for browsers"),
    "link": (Box(820, 620, 1020, 676), "Home Assistant"),
}
FLOOR = Box(324, 220, 562, 392)
LANES: dict[str, int] = {"mic": 113, "heard": 113, "played": 182, "voice": 446, STATES: 446}  # y
# The x of the arrow between a process and the conductor, and a label if there is room for one.
CHANNELS: dict[str, tuple[int, str]] = {
    "capture": (154, ""), "playback": (225, "positions"), "speaker": (655, ""), "words": (726, ""),
    "listener": (761, "onsets, verdicts"), "thinker": (960, "sentences"),
    "panel": (244, ""), "page": (582, ""), "link": (920, ""),
}  # fmt: skip


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """One line of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>'


def rectangle(box: Box, kind: str, radius: int = 6) -> str:
    """A rectangle with round corners."""
    width, height = box.right - box.left, box.bottom - box.top
    return (
        f'<rect x="{box.left}" y="{box.top}" width="{width}" height="{height}" '
        f'rx="{radius}" class="{kind}"/>'
    )


def arrow(
    start: tuple[float, float], end: tuple[float, float], kind: str, both: bool = False
) -> str:
    """A straight arrow; with `both`, a head at each end."""
    (x1, y1), (x2, y2) = start, end
    tail = f' marker-start="url(#{kind})"' if both else ""
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"'
        f'{tail} marker-end="url(#{kind})"/>'
    )


def scheduling(row: Process) -> str:
    """The scheduling class and priority of a process."""
    return f"FIFO {row.priority}" if row.scheduling == "fifo" else f"nice {row.nice}"


def bands() -> Iterator[str]:
    """The areas of the cores, with their labels."""
    upright, across = BANDS[0,]
    yield (
        f'<path class="band" d="M{upright.left} {upright.top}H{upright.right}V{across.top}'
        f'H{across.right}V{across.bottom}H{upright.left}Z"/>'
    )
    for cores, areas in BANDS.items():
        if cores != (0,):
            yield rectangle(areas[0], "band", 0)
        named = f"core{'s' if len(cores) > 1 else ''} {' and '.join(map(str, cores))}"
        yield text(areas[0].middle[0], areas[0].top + 19, named, "small")


def check_places(rows: Iterable[Process]) -> None:
    """Raise ValueError if the box of a process is outside the area of its cores, or missing."""
    for row in rows:
        areas = BANDS.get(row.cores, ())
        if row.name not in PLACES or not any(area.contains(PLACES[row.name][0]) for area in areas):
            raise ValueError(f"{row.name} runs on cores {row.cores}: move its box in PLACES")


def processes() -> Iterator[str]:
    """A box for each row of the process table."""
    for row in PROCESSES:
        box, does = PLACES[row.name]
        x, y = box.middle
        yield rectangle(box, "box")
        if row.name == "conductor":
            yield text(x, y - 5, f"{row.name} · {scheduling(row)}", "name")
            yield text(x, y + 15, does, "small")
            continue
        yield text(x, y - 10, row.name, "name")
        yield text(x, y + 6, does, "small")
        yield text(x, y + 20, scheduling(row), "small")


def pill(x: float, y: float, ring: RingSpec) -> Iterator[str]:
    """A label with a ring's name, the duration of a slot, and the number of slots."""
    slot = "a token" if ring.name == STATES else f"{ring.frames * 1000 / RATE_HZ:g} ms"
    yield rectangle(Box(int(x) - 47, int(y) - 19, int(x) + 47, int(y) + 19), "ring", 19)
    yield text(x, y - 2, ring.name, "name")
    yield text(x, y + 12, f"{slot} × {ring.slots}", "small")


def rings() -> Iterator[str]:
    """An arrow for each ring, from its writer to each of its readers."""
    for ring in RINGS:
        writer = PLACES[ring.writer][0]
        if ring.name == TRIED:  # goes around `words`, which is in between
            left, down = writer.left - 10, PLACES[ring.readers[0]][0].middle[1]
            around = f"M{writer.left} {writer.bottom - 20}H{left}V{down:g}H{writer.left}"
            yield f'<path d="{around}" class="ring" fill="none" marker-end="url(#ring)"/>'
            yield text(left + 17, writer.bottom + 18, ring.name, "name")
            continue
        for name in ring.readers:
            reader = PLACES[name][0]
            if ring.name not in LANES:  # downwards
                x = reader.middle[0]
                yield arrow((x, writer.bottom), (x, reader.top), "ring")
                yield from pill(x, (writer.bottom + reader.top) / 2 - 3, ring)
                continue
            y = LANES[ring.name]
            right = reader.left > writer.right
            start, end = (writer.right, reader.left) if right else (writer.left, reader.right)
            yield arrow((start, y), (end, y), "ring")
            yield from pill((start + end) / 2, y, ring)


def floor_words() -> dict[str, list[str]]:
    """Writer → the words of the floor that it writes, from the docstring of `Floor`."""
    entries = re.findall(r"^    (\w+) +(\w+)'s: ", Floor.__doc__ or "", re.MULTILINE)
    writers: dict[str, list[str]] = {}
    for word, writer in entries:
        writers.setdefault(writer, []).append(word)
    return writers


def floor() -> Iterator[str]:
    """The floor with its words, and the arrows from the listener through it to playback."""
    listener, playback = PLACES["listener"][0], PLACES["playback"][0]
    yield rectangle(FLOOR, "floor")
    yield text(FLOOR.middle[0], FLOOR.top + 19, "floor", "name")
    y = FLOOR.top + 38
    for writer, words in floor_words().items():
        lines = [", ".join(words[at : at + 3]) for at in range(0, len(words), 3)]
        for number, line in enumerate(lines):
            yield text(FLOOR.left + 8, y, f"{writer}:" if not number else "", "small left")
            yield text(FLOOR.left + 74, y, line, "small left")
            y += 16
    yield text(FLOOR.middle[0], FLOOR.bottom - 28, "read by playback and capture", "small")
    yield text(FLOOR.middle[0], FLOOR.bottom - 12, "before each 5 ms of sound", "small")
    y = FLOOR.top + 34
    yield arrow((listener.left, y), (FLOOR.right, y), "floor")
    yield text((listener.left + FLOOR.right) / 2, y - 7, "hold", "small")
    yield arrow((FLOOR.left, y), (playback.right, y), "floor")


def channels() -> Iterator[str]:
    """An arrow for the channel between each process and the conductor."""
    conductor = PLACES["conductor"][0]
    for row in PROCESSES:
        if row.name == "conductor":
            continue
        box, (x, words) = PLACES[row.name][0], CHANNELS[row.name]
        if box.top > conductor.bottom:
            yield arrow((x, box.top), (x, conductor.bottom), "message", both=True)
        else:
            yield arrow((x, box.bottom), (x, conductor.top), "message", both=True)
        yield text(x + 8, conductor.top - 10, words, "small left") if words else ""


def outside() -> Iterator[str]:
    """Sound card, button and light, browsers, and MQTT broker, which are outside the processes."""
    capture, playback = PLACES["capture"][0], PLACES["playback"][0]
    card = Box(10, capture.top, 112, playback.bottom)
    yield rectangle(card, "outside")
    yield text(card.middle[0], card.middle[1] - 8, "sound card", "name")
    yield text(card.middle[0], card.middle[1] + 9, "one clock", "small")
    y = capture.middle[1]
    yield arrow((card.right, y), (capture.left, y), "wire")
    y = playback.middle[1]
    yield arrow((playback.left, y), (card.right, y), "wire")
    for name, words in (
        ("panel", "button, switch, light"),
        ("page", "the house's browsers"),
        ("link", "MQTT broker"),
    ):
        place = PLACES[name][0]
        box = Box(place.left, HEIGHT - 50, place.right, HEIGHT - 14)
        yield rectangle(box, "outside")
        yield text(*(box.middle[0], box.middle[1] + 5), words)
        yield arrow((box.middle[0], place.bottom), (box.middle[0], box.top), "wire", both=True)


def legend() -> Iterator[str]:
    """A sample of each kind of arrow with its meaning."""
    x = 144
    for kind, words, width in (
        ("ring", "sound in a ring: slot × number of slots", 280),
        ("floor", "a word of the floor", 168),
        ("message", "messages", 112), ("wire", "a device, a network", 0),
    ):  # fmt: skip
        yield arrow((x, 30), (x + 34, 30), kind)
        yield text(x + 44, 34, words, "small left")
        x += 34 + width


def drawing() -> str:
    """The drawing as SVG. Raises ValueError if a process has no box in its cores' area."""
    check_places(PROCESSES)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        "<title>Interlude: processes, rings and the floor</title>\n"
        f"<style>{STYLE}</style>\n<defs>"
    )
    heads = [
        f'<marker id="{kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" '
        f'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
        f'<path class="head-{kind}" d="M0 1 10 5 0 9z"/></marker>'
        for kind in ("ring", "floor", "message", "wire")
    ]
    page = f'</defs>\n<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
    parts = (bands(), channels(), outside(), processes(), floor(), rings(), legend())
    return "\n".join([head, *heads, page, *(line for part in parts for line in part), "</svg>\n"])
