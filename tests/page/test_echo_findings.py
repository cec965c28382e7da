"""The judgement of echo health: each one from the figures that lead to it."""

from __future__ import annotations

import pytest

from appliance.messages.trying import CancellerState, EchoBand, EchoMeasured
from appliance.page.echo_findings import health, taken_db
from appliance.page.texts import Texts


def measured(
    heard: float,
    left: float,
    noise: float = -80.0,
    *,
    state: CancellerState = "works",
    sounded_s: float = 6.0,
    onsets: int = 0,
    clipped: int = 0,
) -> EchoMeasured:
    bands = tuple(EchoBand(low, low * 2, heard, left, noise) for low in (125, 500))
    return EchoMeasured(1, bands, sounded_s, onsets, clipped, state)


@pytest.mark.parametrize(
    ("measurement", "found"),
    [
        (measured(-30, -51), ("good",)),
        (measured(-30, -45), ("fair",)),
        (measured(-30, -38), ("poor",)),
        (measured(-60, -72, noise=-75), ("good",)),  # the residual echo is inaudible
        (measured(-70, -70, noise=-72), ("unheard",)),
        (measured(-30, -30, state="resting"), ("unheard",)),
        (measured(-30, -30, state="none"), ("none",)),
        (measured(-30, -55, sounded_s=1.0), ("silent",)),
        (measured(-100, -100, noise=-100, sounded_s=0.0), ("silent",)),
        (measured(-10, -35, clipped=80, onsets=2), ("good", "clipped", "itself")),
    ],
)
def test_the_measured_figures_lead_to_the_expected_judgement(
    measurement: EchoMeasured, found: tuple[str, ...]
) -> None:
    assert health(measurement).found == found


def test_the_attenuation_is_that_of_all_bands_together() -> None:
    measurement = EchoMeasured(
        1,
        (EchoBand(125, 500, -20, -50, -90), EchoBand(500, 1000, -60, -61, -90)),
        6.0, 0, 0, "works",
    )  # fmt: skip
    assert health(measurement).taken_db == pytest.approx(29.7, abs=0.1)
    assert [taken_db(band) for band in measurement.bands] == [30, 1]


def test_a_good_measurement_needs_no_remedy() -> None:
    assert health(measured(-30, -60)).well
    assert not health(measured(-30, -60, onsets=1)).well


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_judgement_has_a_sentence(language: str) -> None:
    measurement = Texts(language).templates("page-echo-")
    assert measurement.keys() == {
        "good", "fair", "poor", "unheard", "none", "silent", "clipped", "itself",
    }  # fmt: skip
