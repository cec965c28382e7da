"""The findings of the sound card check, with their remedies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from appliance.audio.device_probe import DeviceProbe
from appliance.cli import check as health
from appliance.errors import CardError
from appliance.runtime import status
from appliance.runtime.diagnostics import Finding
from appliance.settings import CardSettings
from tests.cli.fit_machine import GOOD, fine, machine, not_well, only, raises, settings


def test_a_sound_device_without_permission_is_a_problem(tmp_path: Path) -> None:
    shut = replace(machine(tmp_path), access=lambda path, _: "snd" not in str(path))
    one = only(health.collect_findings(settings(tmp_path), shut, fine()))
    assert (one.looked_at, one.verdict) == ("sound card", "problem")
    assert "audio" in one.remedy


# ── trying the card ──────────────────────────────────────────────────────────────────────────
def test_a_card_that_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    asked = replace(fine(), try_card=raises(CardError("It is in use.", "Stop that program.")))
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert one == Finding("sound card", "problem", "It is in use.", "Stop that program.")


def test_a_card_held_by_the_running_box_is_not_opened_again(tmp_path: Path) -> None:
    busy = replace(fine(), try_card=raises(CardError("It is in use.", "Stop that program.")))
    runs = status.SupervisorStatus(pid=1, ready=True, healthy=True)
    found = list(health.collect_findings(settings(tmp_path), machine(tmp_path), busy, runs))
    assert not_well(iter(found)) == []
    assert "has it open" in next(f for f in found[::-1] if f.looked_at == "sound card").sentence
    failed = msgspec.structs.replace(runs, failed=("capture",))
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), busy, failed))
    assert (one.looked_at, one.verdict) == ("sound card", "problem")
    assert "without capture" in one.sentence


@pytest.mark.parametrize(
    ("trial", "verdict", "looked_at"),
    [
        (replace(GOOD, noise_dbfs=-120.0, peak_dbfs=-120.0), "problem", "level"),
        (replace(GOOD, noise_dbfs=-30.0), "warning", "level"),
        (replace(GOOD, peak_dbfs=0.0), "warning", "level"),
        (replace(GOOD, dropouts=3), "warning", "sound card"),
        (replace(GOOD, skew_ppm=80.0), "problem", "clock"),
        (replace(GOOD, skew_ppm=-80.0), "problem", "clock"),
    ],
)
def test_each_fault_of_a_card_is_reported(
    tmp_path: Path, trial: DeviceProbe, verdict: str, looked_at: str
) -> None:
    asked = replace(fine(), try_card=lambda _: trial)
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert (one.verdict, one.looked_at) == (verdict, looked_at)


@pytest.mark.parametrize(
    "trial",
    [
        replace(GOOD, skew_ppm=80.0, uncertain_ppm=40.0),
        replace(GOOD, skew_ppm=None, uncertain_ppm=None),
    ],
)
def test_uncertain_clock_skew_is_not_reported(tmp_path: Path, trial: DeviceProbe) -> None:
    asked = replace(fine(), try_card=lambda _: trial)
    assert not_well(health.collect_findings(settings(tmp_path), machine(tmp_path), asked)) == []


def test_two_devices_are_a_warning_before_any_measurement(tmp_path: Path) -> None:
    two = settings(tmp_path, card={"capture": "hw:A", "playback": "hw:B"})
    one = only(health.collect_findings(two, machine(tmp_path), fine()))
    assert (one.looked_at, one.verdict) == ("clock", "warning")


def test_the_card_chosen_by_auto_is_reported(tmp_path: Path) -> None:
    sentences = [
        f.sentence for f in health.collect_findings(settings(tmp_path), machine(tmp_path), fine())
    ]
    assert "`auto` takes plughw:CARD=Array." in sentences


def test_alsas_default_device_is_a_warning(tmp_path: Path) -> None:
    mixed = settings(tmp_path, card={"capture": "default", "playback": "default"})
    one = only(health.collect_findings(mixed, machine(tmp_path), fine()))
    assert "it mixes, resamples" in one.sentence
    assert "auto" in (one.remedy or "")


def test_two_devices_of_one_card_share_one_clock(tmp_path: Path) -> None:
    one = settings(tmp_path, card={"capture": "hw:CARD=A,DEV=1", "playback": "plughw:CARD=A"})
    assert not_well(health.collect_findings(one, machine(tmp_path), fine())) == []


def test_the_card_in_the_settings_is_tried(tmp_path: Path) -> None:
    tried: list[CardSettings] = []

    def try_card(card: CardSettings) -> DeviceProbe:
        tried.append(card)
        return GOOD

    named = settings(tmp_path, card={"capture": "hw:A", "playback": "hw:A"})
    list(health.collect_findings(named, machine(tmp_path), replace(fine(), try_card=try_card)))
    assert [card.capture for card in tried] == ["hw:A"]
