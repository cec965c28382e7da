"""`interlude light`: the light and the button from the first second of a system until the box's own
panel has them. A unit of the system runs it; it knows nothing of the box but its settings.

In: the settings, the wires, a word from the panel that it begins. Out: the light breathes, warns of
what a button held since power-on will do, and says "failed" if no panel ever begins. How the button
was pressed is left in a file for the panel, which then goes on as if it had been there from the
start: a hold that began here counts in full. Both run as the box's user.
"""

from __future__ import annotations

import itertools
import logging
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import PanelError, SettingsError
from appliance.panel import auto_detection
from appliance.panel.brightness import brightness
from appliance.panel.button import FROM_START, Button, Gesture
from appliance.panel.gpio import EARLY, GpioWires
from appliance.panel.light import OFF, PATTERNS, Colour, choose, shown, until_change_s
from appliance.record_file import read_record
from appliance.runtime import status
from appliance.settings import PanelSettings, Settings, load, load_defaults
from appliance.settings.usable import BEFORE

FOLDER = Path("/run/interlude-light")  # of the unit (RuntimeDirectory=)
EDGES = "edges.json"
BEGINS = "panel-begins"  # in the folder of status.json: the panel asks for its wires
CHIP_S = 60.0  # for the header's chip to be there and ours to open
RETRY_S = 0.05
LOOK_S = 0.04  # between two looks whether the panel begins; a step of a breath
ALONE_S = 300.0  # without a panel something has failed: a box has 180 s to start
NO_PANEL_S = 20.0  # after its supervisor: a release that asks for nothing finds its wires free
TICK_S = 0.02

log = logging.getLogger("light")

Edge = tuple[bool, float]  # whether it is down from then on, and when (CLOCK_MONOTONIC, s)


@dataclass
class EarlyPanel:
    """What the light shows, and the button's edges. Pure but for the wires."""

    wires: GpioWires
    panel: PanelSettings
    begun_s: float
    edges: list[Edge] = field(default_factory=list)
    _button: Button = field(default_factory=lambda: Button(power_on=True))
    _notice: str = ""
    _name: str = ""
    _since_s: float = 0.0
    _colour: Colour | None = None

    def __post_init__(self) -> None:
        self._note(self.wires.levels()["button"], self.begun_s)

    def run_once(self, now_s: float) -> None:
        """Raises PanelError when the lines are gone."""
        for name, active, at_s in self.wires.edges():
            if name == "button":
                self._note(active, at_s)
        self._show_gestures(self._button.tick(now_s))
        true = {"starting", self._notice} - {""}
        if now_s - self.begun_s > ALONE_S:
            true.add("failed")
        name = choose(true)
        if name != self._name:
            self._name, self._since_s = name, now_s
        colour = shown(name, now_s - self._since_s, brightness(self.panel))
        if colour != self._colour:
            self._colour = colour
            self.wires.show(colour)

    def wait_s(self, now_s: float) -> float:
        if self._button.busy:
            return TICK_S
        return min(LOOK_S, until_change_s(PATTERNS[self._name], now_s - self._since_s))

    def _note(self, down: bool, at_s: float) -> None:
        self.edges.append((down, at_s))
        self._show_gestures(self._button.edge(down, at_s))

    def _show_gestures(self, gestures: list[Gesture]) -> None:
        """Only what is shown; what is done about it, the panel does."""
        for gesture in gestures:
            if gesture in FROM_START:
                self._notice = gesture if gesture in PATTERNS else ""


def cli(
    settings_file: Path | None,
    folder: Path = FOLDER,
    box: Path = status.FOLDER,
    say: Callable[[str], object] = log.info,
    wires_of: Callable[[PanelSettings, str], GpioWires] = GpioWires,
) -> int:
    """Until the panel begins. Returns 0 where there is nothing to light, too."""
    panel = auto_detection.resolve_auto(_settings(settings_file)).panel
    if not panel.here or panel.gpio == "keyboard" or (box / BEGINS).exists():
        return 0
    wires = _opened(lambda: wires_of(panel, EARLY), (box / BEGINS).exists, say)
    if wires is None:
        return 0
    early = EarlyPanel(wires, panel, time.monotonic())
    say(f"the light breathes ({wires.by})")
    poll = select.poll()
    poll.register(wires.fileno(), select.POLLIN)
    supervised_s = float("inf")
    try:
        while not (box / BEGINS).exists():
            now_s = time.monotonic()
            if supervised_s == float("inf") and (box / status.NAME).exists():
                supervised_s = now_s
            if now_s - supervised_s > NO_PANEL_S:
                break
            early.run_once(now_s)
            poll.poll(1000 * early.wait_s(now_s) + 1)
        write_edges(folder, early.edges)
    finally:
        wires.show(OFF)
        wires.close()
    return 0


def write_edges(folder: Path, edges: list[Edge]) -> None:
    """Where there is a folder for it. Raises OSError."""
    if folder.is_dir():
        write_whole(folder / EDGES, msgspec.json.encode(edges[-1000:]), 0o600, lasting=False)


def read_edges(now_s: float, folder: Path = FOLDER) -> list[Edge]:
    """The button's edges before the panel began; none where none can be read."""
    edges = read_record(folder / EDGES, list[Edge]) or []
    in_order = all(one[1] <= other[1] for one, other in itertools.pairwise(edges))
    past = all(at_s <= now_s for _, at_s in edges)
    return edges if in_order and past else []


def replay_edges(button: Button, edges: list[Edge]) -> list[Gesture]:
    """Bring the panel's own button to where it would be had it seen these edges. Returns what is
    to be done of a hold since power-on; whatever else was pressed had no box to be pressed for."""
    gestures = [gesture for down, at_s in edges for gesture in button.edge(down, at_s)]
    return [gesture for gesture in gestures if gesture in FROM_START]


def request_wires(box: Path | None) -> None:
    """As the panel: that it begins, and needs its wires. Whoever has no folder had no light."""
    if box is not None:
        (box / BEGINS).touch(mode=0o644)


def _settings(named: Path | None) -> Settings:
    """A mistake in them is the box's to tell: here they are as they were, or the vendor's."""
    state = Path(os.environ.get("STATE_DIRECTORY", "/nonexistent"))
    for file in (named, state / BEFORE):
        try:
            return load(file)
        except SettingsError:
            continue
    return load_defaults()


def _opened(
    make: Callable[[], GpioWires], over: Callable[[], bool], say: Callable[[str], object]
) -> GpioWires | None:
    """The wires, as soon as their chip is there; None if it never comes, or is not needed: the
    panel itself tells its owner what is wrong with them."""
    end_s = time.monotonic() + CHIP_S
    while not over():
        try:
            return make()
        except PanelError as error:
            if time.monotonic() > end_s:
                say(str(error))
                return None
            time.sleep(RETRY_S)
    return None
