"""The light before the box: on gpiozero's mock pins, and its end when the panel begins."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance import settings
from appliance.errors import PanelBusy, PanelError
from appliance.panel import early
from appliance.panel.button import RESET_S, SETUP_S, Button
from appliance.panel.early import ALONE_S, BEGINS, EarlyPanel
from appliance.panel.gpio import EARLY, GpioWires
from appliance.panel.light import OFF
from appliance.panel.pins import pin
from appliance.runtime import status
from appliance.settings import PanelSettings

PANEL = msgspec.structs.replace(settings.load_defaults().panel, gpio="keyboard", night="")
COLOURS = ("light_red", "light_green", "light_blue")
LIMIT_S = 20.0  # for a thread on a busy machine, never waited for


@pytest.fixture
def wires() -> Iterator[GpioWires]:
    made = GpioWires(PANEL)
    yield made
    made.close()


def shown(wires: GpioWires) -> tuple[float, ...]:
    factory: Any = wires._factory
    return tuple(round(float(factory.pin(pin(each).line).state), 2) for each in COLOURS)


def test_the_light_breathes_in_white_from_the_first_step(wires: GpioWires) -> None:
    light = EarlyPanel(wires, PANEL, 100.0)
    seen = []
    for step in range(0, 1000, 40):
        light.run_once(100.0 + step / 1000)
        seen.append(shown(wires))
    assert seen[0] == (1.0, 1.0, 1.0)
    assert all(red == green == blue > 0.05 for red, green, blue in seen)
    assert min(seen)[0] < 0.2
    assert light.wait_s(101.0) <= 0.04


def test_a_light_that_nobody_takes_over_says_that_something_failed(wires: GpioWires) -> None:
    light = EarlyPanel(wires, PANEL, 100.0)
    light.run_once(100.0 + ALONE_S - 1)
    assert shown(wires)[2] > 0
    light.run_once(100.0 + ALONE_S + 1)
    assert shown(wires) == (1.0, 0.0, 0.0)


def hold(wires: GpioWires) -> None:
    """Before anybody listens: it is down when the light begins."""
    wires.drive("button", True)
    wires.edges()


def held(wires: GpioWires, light: EarlyPanel, until_s: float) -> None:
    """From power-on, with a step every 20 ms."""
    for tick in range(round((until_s - light.started_s) / 0.02) + 1):
        light.run_once(light.started_s + tick * 0.02)


def test_a_hold_that_begins_here_is_warned_of_and_ends_as_set_up_with_the_panel(
    wires: GpioWires,
) -> None:
    hold(wires)
    light = EarlyPanel(wires, PANEL, 100.0)
    held(wires, light, 101.0)
    assert light._notice == ""
    held(wires, light, 103.0)
    assert light._notice == "setup_warning"
    panels = Button(power_on=True)  # begins now
    done = early.replay_edges(panels, light.edges)
    done += panels.edge(True, 103.0) + panels.tick(104.0) + panels.edge(False, 100.1 + SETUP_S)
    assert [each for each in done if each != "setup_warning"] == ["setup"]


def test_a_hold_that_ends_here_is_done_by_the_panel(wires: GpioWires) -> None:
    hold(wires)
    light = EarlyPanel(wires, PANEL, 100.0)
    held(wires, light, 100.5 + SETUP_S)
    light._record_edge(False, 100.6 + SETUP_S)
    assert light._notice == "setup"
    assert early.replay_edges(Button(power_on=True), light.edges) == ["setup_warning", "setup"]


def test_a_reset_needs_its_second_press_from_whoever_has_the_button_then(wires: GpioWires) -> None:
    hold(wires)
    light = EarlyPanel(wires, PANEL, 100.0)
    held(wires, light, 101.0 + RESET_S)
    light._record_edge(False, 101.1 + RESET_S)
    assert light._notice == "reset_armed"
    panels = Button(power_on=True)
    assert "reset" not in early.replay_edges(panels, light.edges)
    assert "reset" in panels.edge(True, 103.0 + RESET_S)


def test_other_presses_before_the_box_mean_nothing_to_it(wires: GpioWires) -> None:
    light = EarlyPanel(wires, PANEL, 100.0)
    for at_s in (101.0, 101.2, 102.0, 104.0):
        light._record_edge(True, at_s)
        light._record_edge(False, at_s + 0.1)
    assert early.replay_edges(Button(power_on=True), light.edges) == []


# ── what is left for the panel ───────────────────────────────────────────────────────────────
def test_edges_are_left_and_found(tmp_path: Path) -> None:
    early.write_edges(tmp_path, [(False, 1.5), (True, 2.25)])
    assert early.read_edges(3.0, tmp_path) == [(False, 1.5), (True, 2.25)]


@pytest.mark.parametrize(
    "data", [b"", b"{", b'"x"', b"[[true]]", b"[[true,2.0],[false,1.0]]", b"[[true,99.0]]",
             b"[[true,NaN]]", b"[" * 5000, b"\xff" * 100, b" " * 100_000],
)  # fmt: skip
def test_what_no_early_light_leaves_is_not_believed(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "edges.json").write_bytes(data)
    assert early.read_edges(3.0, tmp_path) == []
    assert early.read_edges(3.0, tmp_path / "nowhere") == []


# ── its life ─────────────────────────────────────────────────────────────────────────────────
class Life:
    """`interlude light` on mock pins, in a thread. `refusals`: how often its pins are not there."""

    def __init__(self, folder: Path, text: str, refusals: int = 0) -> None:
        self.folder, self.box = folder / "light", folder / "box"
        self.folder.mkdir()
        self.box.mkdir()
        self.file = folder / "settings.yaml"
        self.file.write_text(text)
        self.said: list[str] = []
        self.made: list[GpioWires] = []
        self.colours: list[object] = []
        self.refusals = refusals
        self.code = -1
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        self.code = early.cli(self.file, self.folder, self.box, self.said.append, self._wires)

    def _wires(self, panel: PanelSettings, consumer: str) -> GpioWires:
        assert consumer == EARLY
        if self.refusals:
            self.refusals -= 1
            raise PanelError("There is no GPIO chip here yet.")
        made = GpioWires(PANEL)
        show = made.show

        def watched(colour: tuple[float, float, float]) -> None:
            self.colours.append(colour)
            show(colour)

        setattr(made, "show", watched)  # noqa: B010
        self.made.append(made)
        return made

    def until(self, true: Any) -> None:
        end_s = time.monotonic() + LIMIT_S
        while not true():
            assert time.monotonic() < end_s, self.said
            time.sleep(0.005)


def test_it_waits_for_its_chip_breathes_and_goes_when_the_panel_begins(tmp_path: Path) -> None:
    life = Life(tmp_path, "panel: {gpio: header}\n", refusals=3)
    life.until(lambda: len(life.colours) > 5)
    assert life.said == ["the light breathes (keyboard)"]
    early.request_wires(life.box)
    life.thread.join(LIMIT_S)
    assert life.code == 0
    assert life.colours[-1] == OFF
    assert early.read_edges(time.monotonic(), life.folder)[0][0] is False


@pytest.mark.parametrize("gpio", ["none", "keyboard"])
def test_a_box_without_wires_has_no_early_light(tmp_path: Path, gpio: str) -> None:
    life = Life(tmp_path, f"panel: {{gpio: {gpio}}}\n")
    life.thread.join(LIMIT_S)
    assert (life.code, life.made, life.said) == (0, [], [])


def test_a_panel_that_has_begun_keeps_its_wires(tmp_path: Path) -> None:
    early.request_wires(tmp_path)
    life = early.cli(tmp_path / "nothing.yaml", tmp_path, tmp_path, print)
    assert life == 0
    assert (tmp_path / BEGINS).exists()


def test_settings_with_a_mistake_are_as_they_were_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    (tmp_path / "settings-before.yaml").write_text("panel: {gpio: none}\n")
    life = Life(tmp_path, "panel: {gpio: heeader}\n")
    life.thread.join(LIMIT_S)
    assert (life.code, life.made) == (0, [])


def test_the_folder_of_the_box_is_where_the_panel_asks() -> None:
    assert early.cli.__defaults__ is not None
    assert status.FOLDER in early.cli.__defaults__
    early.request_wires(None)  # a panel that systemd gave no folder asks nobody


def test_wires_that_are_not_all_to_be_had_are_all_let_go_of() -> None:
    with pytest.raises(PanelError):
        GpioWires(
            msgspec.structs.replace(PANEL, gpio="codec-zero", mute_switch=True, chip="nowhere")
        )
    assert issubclass(PanelBusy, PanelError)
