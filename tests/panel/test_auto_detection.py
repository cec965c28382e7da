"""The resolution of `panel.gpio: auto` on simulated machines made of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance import settings
from appliance.cli import startup_settings
from appliance.errors import SettingsError
from appliance.panel import auto_detection
from appliance.panel.pins import HEADERS
from appliance.runtime.machine import Machine

PI = "raspberrypi,5-model-b\0brcm,bcm2712\0"
M2 = ("Raspberry Pi", "M.2 HAT+ M Key")
ZERO = ("Raspberry Pi Ltd.", "Codec Zero")
STRANGER = ("ACME", "Blinking HAT")


def machine(root: Path, compatible: str = "", *hats: tuple[str, str]) -> Machine:
    tree = root / "proc/device-tree"
    tree.mkdir(parents=True)
    if compatible:
        (tree / "compatible").write_text(compatible)
    for number, (vendor, product) in enumerate(hats):
        hat = tree / (f"hat_{number}" if number else "hat")
        hat.mkdir()
        (hat / "vendor").write_text(f"{vendor}\0")
        (hat / "product").write_text(f"{product}\0")
    return Machine(root)


def gpio(machine_: Machine, *chips: str, **panel: Any) -> str:
    chosen = settings.load_defaults() if not panel else settings.load(None, {"panel": panel})
    return auto_detection.resolve_auto(chosen, machine_, lambda: chips).panel.gpio


def test_auto_is_the_default() -> None:
    assert settings.load_defaults().panel.gpio == "auto"
    assert settings.load_defaults().panel.light == "auto"


def test_a_pi_has_a_header_even_before_its_chip_appears(tmp_path: Path) -> None:
    assert gpio(machine(tmp_path, PI)) == "header"


@pytest.mark.parametrize("label", HEADERS)
def test_a_chip_labelled_as_a_pis_header_is_a_header(tmp_path: Path, label: str) -> None:
    assert gpio(machine(tmp_path), "pinctrl-other", label) == "header"


@pytest.mark.parametrize("chips", [(), ("INT34C5:00",), ("gpio-sim.0-bank0", "pinctrl-rp1-other")])
def test_any_other_machine_has_no_header(tmp_path: Path, chips: tuple[str, ...]) -> None:
    assert gpio(machine(tmp_path, "friendlyarm,nanopi\0rockchip,rk3399\0"), *chips) == "none"


@pytest.mark.parametrize(
    ("hats", "found"),
    [
        ((ZERO,), "codec-zero"),
        ((M2,), "header"),
        ((M2, ZERO), "codec-zero"),
        ((STRANGER,), "none"),
        ((M2, STRANGER), "none"),
    ],
)
def test_on_a_pi_the_hat_decides(
    tmp_path: Path, hats: tuple[tuple[str, str], ...], found: str
) -> None:
    machine_ = machine(tmp_path, PI, *hats)
    assert gpio(machine_, "pinctrl-rp1") == found
    stranger = "Blinking HAT of ACME" if STRANGER in hats else ""
    assert auto_detection.strange_hat(machine_) == stranger


@pytest.mark.parametrize("setting", ["none", "header", "keyboard", "respeaker-2-mics"])
def test_an_explicit_setting_is_used_without_detection(tmp_path: Path, setting: str) -> None:
    def chips() -> tuple[str, ...]:
        raise AssertionError("no chip may be opened")

    chosen = settings.load(None, {"panel": {"gpio": setting}})
    assert auto_detection.resolve_auto(chosen, machine(tmp_path, PI, ZERO), chips) == chosen


def test_a_mute_switch_in_the_settings_implies_the_header(tmp_path: Path) -> None:
    assert gpio(machine(tmp_path, PI, STRANGER), mute_switch=True) == "header"


def test_a_chip_in_the_settings_implies_a_header(tmp_path: Path) -> None:
    assert gpio(machine(tmp_path), chip="my-expander") == "header"


def test_files_that_are_not_gpio_chips_have_no_label(tmp_path: Path) -> None:
    (tmp_path / "gpiochip0").write_text("no chip")
    assert auto_detection.labels(tmp_path) == frozenset()


@pytest.mark.parametrize("gpio", ["none", "keyboard"])
def test_push_to_talk_without_a_button_is_refused_with_a_remedy(tmp_path: Path, gpio: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(f"mode: push_to_talk\npanel: {{gpio: {gpio}}}\n")
    if gpio == "keyboard":
        assert startup_settings.settings_for_start(file).settings.mode == "push_to_talk"
        return
    with pytest.raises(SettingsError) as caught:
        startup_settings.settings_for_start(file)
    assert "This box has no button" in caught.value.problem
    assert "`panel.gpio: header`" in caught.value.remedy


def test_a_service_starts_with_the_previous_mode_and_reports_the_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    file = tmp_path / "settings.yaml"
    file.write_text("mode: wake_word\npanel: {gpio: none}\n")
    assert not startup_settings.settings_for_start(file).problem
    file.write_text("mode: push_to_talk\npanel: {gpio: none}\n")
    start = startup_settings.settings_for_start(file)
    assert start.settings.mode == "wake_word"  # the previous mode
    assert "This box has no button" in start.problem
    assert start.said
