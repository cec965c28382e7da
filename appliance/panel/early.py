"""`interlude light`: runs light and button from early boot until the panel process takes over.

A systemd unit of the system runs it; of the box it knows only the settings.

In: the settings, the GPIO lines, a file by which the panel requests them. Out: the light shows
"starting", warns of what a button held since power-on will do, and shows "failed" if no panel
starts. The button's edges are written to a file, which the panel replays, so that a hold which
began here counts in full. Both run as the box's user.
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
BEGINS = "panel/panel-begins"  # below the folder of status.json: the panel requests the lines
CHIP_S = 60.0  # for the header's GPIO chip to exist and to be accessible
RETRY_S = 0.05
LOOK_S = 0.04  # between two checks for that file; also one step of a breath
ALONE_S = 300.0  # without a panel for so long, the box has failed: it has 180 s to start
NO_PANEL_S = 20.0  # after the supervisor's start: frees the lines for a release without requests
TICK_S = 0.02

log = logging.getLogger("light")

Edge = tuple[bool, float]  # whether it is down from then on, and when (CLOCK_MONOTONIC, s)


@dataclass
class EarlyPanel:
    """Sets the light and records the button's edges. Pure except for the GPIO lines."""

    wires: GpioWires
    panel: PanelSettings
    started_s: float
    edges: list[Edge] = field(default_factory=list)
    _button: Button = field(default_factory=lambda: Button(power_on=True))
    _notice: str = ""
    _name: str = ""
    _since_s: float = 0.0
    _colour: Colour | None = None

    def __post_init__(self) -> None:
        self._record_edge(self.wires.levels()["button"], self.started_s)

    def run_once(self, now_s: float) -> None:
        """Read edges and update the light. Raises PanelError when the lines are gone."""
        for name, active, at_s in self.wires.edges():
            if name == "button":
                self._record_edge(active, at_s)
        self._show_gestures(self._button.tick(now_s))
        conditions = {"starting", self._notice} - {""}
        if now_s - self.started_s > ALONE_S:
            conditions.add("failed")
        name = choose(conditions)
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

    def _record_edge(self, down: bool, at_s: float) -> None:
        self.edges.append((down, at_s))
        self._show_gestures(self._button.edge(down, at_s))

    def _show_gestures(self, gestures: list[Gesture]) -> None:
        """Set the warning to show; the panel process acts on the gestures."""
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
    """Run until the panel requests the lines. Returns 0, also if there is no light to run."""
    panel = auto_detection.resolve_auto(_settings(settings_file)).panel
    if not panel.here or panel.gpio == "keyboard" or (box / BEGINS).exists():
        return 0
    wires = _open_wires(lambda: wires_of(panel, EARLY), (box / BEGINS).exists, say)
    if wires is None:
        return 0
    early = EarlyPanel(wires, panel, time.monotonic())
    say(f"the light breathes ({wires.access})")
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
    """Write the edges for the panel, if the folder exists. Raises OSError."""
    if folder.is_dir():
        write_whole(folder / EDGES, msgspec.json.encode(edges[-1000:]), 0o600, lasting=False)


def read_edges(now_s: float, folder: Path = FOLDER) -> list[Edge]:
    """The button's edges before the panel started; none if they are missing or implausible."""
    edges = read_record(folder / EDGES, list[Edge]) or []
    in_order = all(earlier[1] <= later[1] for earlier, later in itertools.pairwise(edges))
    past = all(at_s <= now_s for _, at_s in edges)
    return edges if in_order and past else []


def replay_edges(button: Button, edges: list[Edge]) -> list[Gesture]:
    """Pass these edges to the panel's own button. Returns the gestures of a hold since power-on;
    other presses are dropped, since they came before the box was running."""
    gestures = [gesture for down, at_s in edges for gesture in button.edge(down, at_s)]
    return [gesture for gesture in gestures if gesture in FROM_START]


def request_wires(box: Path | None) -> None:
    """Called by the panel: request the lines. Without a folder there is no early light."""
    if box is not None:
        (box / BEGINS).parent.mkdir(exist_ok=True)
        (box / BEGINS).touch(mode=0o644)


def _settings(named: Path | None) -> Settings:
    """The settings, or, if they are invalid, the last usable ones, or the defaults. The box itself
    reports the mistake."""
    state = Path(os.environ.get("STATE_DIRECTORY", "/nonexistent"))
    for file in (named, state / BEFORE):
        try:
            return load(file)
        except SettingsError:
            continue
    return load_defaults()


def _open_wires(
    open_wires: Callable[[], GpioWires],
    superseded: Callable[[], bool],
    say: Callable[[str], object],
) -> GpioWires | None:
    """Open the lines as soon as their chip exists; None if it never does, or if the panel has
    started meanwhile. The panel itself reports to the owner what is wrong with them."""
    end_s = time.monotonic() + CHIP_S
    while not superseded():
        try:
            return open_wires()
        except PanelError as error:
            if time.monotonic() > end_s:
                say(str(error))
                return None
            time.sleep(RETRY_S)
    return None
