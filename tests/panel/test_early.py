"""The early light before the box starts, on mock pins, and its handover to the panel."""

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
LIMIT_S = 20.0  # limit for a thread on a busy machine


@pytest.fixture
def wires() -> Iterator[GpioWires]:
    made = GpioWires(PANEL)
    yield made
    made.close()


def shown(wires: GpioWires) -> tuple[float, ...]:
    factory: Any = wires._factory
    return tuple(round(float(factory.pin(pin(each).line).state), 2) for each in COLOURS)


def test_the_light_breathes_white_from_the_first_step(wires: GpioWires) -> None:
    light = EarlyPanel(wires, PANEL, 100.0)
    seen = []
    for step in range(0, 1000, 40):
        light.run_once(100.0 + step / 1000)
        seen.append(shown(wires))
    assert seen[0] == (1.0, 1.0, 1.0)
    assert all(red == green == blue > 0.05 for red, green, blue in seen)
    assert min(seen)[0] < 0.2
    assert light.wait_s(101.0) <= 0.04


def test_an_early_light_that_is_not_taken_over_turns_red(wires: GpioWires) -> None:
    light = EarlyPanel(wires, PANEL, 100.0)
    light.run_once(100.0 + ALONE_S - 1)
    assert shown(wires)[2] > 0
    light.run_once(100.0 + ALONE_S + 1)
    assert shown(wires) == (1.0, 0.0, 0.0)


def hold(wires: GpioWires) -> None:
    """Press the button before the light starts."""
    wires.drive("button", True)
    wires.edges()


def run_until(wires: GpioWires, light: EarlyPanel, until_s: float) -> None:
    """Run the light until `until_s`, with a step every 20 ms."""
    for tick in range(round((until_s - light.started_s) / 0.02) + 1):
        light.run_once(light.started_s + tick * 0.02)


def test_a_hold_started_early_shows_a_warning_and_becomes_set_up_in_the_panel(
    wires: GpioWires,
) -> None:
    hold(wires)
    light = EarlyPanel(wires, PANEL, 100.0)
    run_until(wires, light, 101.0)
    assert light._notice == ""
    run_until(wires, light, 103.0)
    assert light._notice == "setup_warning"
    panel_button = Button(power_on=True)  # the panel starts now
    done = early.replay_edges(panel_button, light.edges)
    done += (
        panel_button.edge(True, 103.0)
        + panel_button.tick(104.0)
        + panel_button.edge(False, 100.1 + SETUP_S)
    )
    assert [gesture for gesture in done if gesture != "setup_warning"] == ["setup"]


def test_a_hold_completed_early_is_carried_out_by_the_panel(wires: GpioWires) -> None:
    hold(wires)
    light = EarlyPanel(wires, PANEL, 100.0)
    run_until(wires, light, 100.5 + SETUP_S)
    light._record_edge(False, 100.6 + SETUP_S)
    assert light._notice == "setup"
    assert early.replay_edges(Button(power_on=True), light.edges) == ["setup_warning", "setup"]


def test_a_reset_armed_early_is_confirmed_in_the_panel(wires: GpioWires) -> None:
    hold(wires)
    light = EarlyPanel(wires, PANEL, 100.0)
    run_until(wires, light, 101.0 + RESET_S)
    light._record_edge(False, 101.1 + RESET_S)
    assert light._notice == "reset_armed"
    panel_button = Button(power_on=True)
    assert "reset" not in early.replay_edges(panel_button, light.edges)
    assert "reset" in panel_button.edge(True, 103.0 + RESET_S)


def test_other_presses_before_the_start_are_ignored(wires: GpioWires) -> None:
    light = EarlyPanel(wires, PANEL, 100.0)
    for at_s in (101.0, 101.2, 102.0, 104.0):
        light._record_edge(True, at_s)
        light._record_edge(False, at_s + 0.1)
    assert early.replay_edges(Button(power_on=True), light.edges) == []


# ── edges handed to the panel ────────────────────────────────────────────────────────────────
def test_saved_edges_are_read_back(tmp_path: Path) -> None:
    early.write_edges(tmp_path, [(False, 1.5), (True, 2.25)])
    assert early.read_edges(3.0, tmp_path) == [(False, 1.5), (True, 2.25)]


@pytest.mark.parametrize(
    "data", [b"", b"{", b'"x"', b"[[true]]", b"[[true,2.0],[false,1.0]]", b"[[true,99.0]]",
             b"[[true,NaN]]", b"[" * 5000, b"\xff" * 100, b" " * 100_000],
)  # fmt: skip
def test_an_invalid_edge_file_is_ignored(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "edges.json").write_bytes(data)
    assert early.read_edges(3.0, tmp_path) == []
    assert early.read_edges(3.0, tmp_path / "nowhere") == []


# ── the process ──────────────────────────────────────────────────────────────────────────────
class EarlyLight:
    """`interlude light` on mock pins in a thread. `refusals`: how often its pins are missing."""

    def __init__(self, folder: Path, text: str, refusals: int = 0) -> None:
        self.folder, self.box = folder / "light", folder / "box"
        self.folder.mkdir()
        self.box.mkdir()
        self.file = folder / "settings.yaml"
        self.file.write_text(text)
        self.printed: list[str] = []
        self.made: list[GpioWires] = []
        self.colours: list[object] = []
        self.refusals = refusals
        self.code = -1
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        self.code = early.cli(self.file, self.folder, self.box, self.printed.append, self._wires)

    def _wires(self, panel: PanelSettings, consumer: str) -> GpioWires:
        assert consumer == EARLY
        if self.refusals:
            self.refusals -= 1
            raise PanelError("There is no GPIO chip here yet.")
        made = GpioWires(PANEL)
        show = made.show

        def record(colour: tuple[float, float, float]) -> None:
            self.colours.append(colour)
            show(colour)

        setattr(made, "show", record)  # noqa: B010
        self.made.append(made)
        return made

    def until(self, true: Any) -> None:
        end_s = time.monotonic() + LIMIT_S
        while not true():
            assert time.monotonic() < end_s, self.printed
            time.sleep(0.005)


def test_the_early_light_waits_for_its_chip_and_ends_when_the_panel_starts(tmp_path: Path) -> None:
    early_light = EarlyLight(tmp_path, "panel: {gpio: header}\n", refusals=3)
    early_light.until(lambda: len(early_light.colours) > 5)
    assert early_light.printed == ["the light breathes (keyboard)"]
    early.request_wires(early_light.box)
    early_light.thread.join(LIMIT_S)
    assert early_light.code == 0
    assert early_light.colours[-1] == OFF
    assert early.read_edges(time.monotonic(), early_light.folder)[0][0] is False


@pytest.mark.parametrize("gpio", ["none", "keyboard"])
def test_a_box_without_wires_has_no_early_light(tmp_path: Path, gpio: str) -> None:
    early_light = EarlyLight(tmp_path, f"panel: {{gpio: {gpio}}}\n")
    early_light.thread.join(LIMIT_S)
    assert (early_light.code, early_light.made, early_light.printed) == (0, [], [])


def test_the_early_light_does_not_take_the_wires_of_a_started_panel(tmp_path: Path) -> None:
    early.request_wires(tmp_path)
    early_light = early.cli(tmp_path / "nothing.yaml", tmp_path, tmp_path, print)
    assert early_light == 0
    assert (tmp_path / BEGINS).exists()


def test_invalid_settings_are_replaced_by_the_previous_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    (tmp_path / "settings-before.yaml").write_text("panel: {gpio: none}\n")
    early_light = EarlyLight(tmp_path, "panel: {gpio: heeader}\n")
    early_light.thread.join(LIMIT_S)
    assert (early_light.code, early_light.made) == (0, [])


def test_the_early_light_looks_for_requests_in_the_boxs_folder() -> None:
    assert early.cli.__defaults__ is not None
    assert status.FOLDER in early.cli.__defaults__
    early.request_wires(None)  # without a folder from systemd, no request is written


def test_if_a_wire_is_unavailable_all_are_released() -> None:
    with pytest.raises(PanelError):
        GpioWires(
            msgspec.structs.replace(PANEL, gpio="codec-zero", mute_switch=True, chip="nowhere")
        )
    assert issubclass(PanelBusy, PanelError)
