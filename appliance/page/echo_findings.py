"""Judges the echo canceller: levels by band in, keys of findings out. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from appliance.messages.trying import EchoBand, EchoMeasured

LEAST_S = 2.0  # of sound; the canceller's first second does not count
UNHEARD_DB = 6.0  # echo less than this above the room noise cannot be measured
GONE_DB = 6.0  # residual echo less than this above the room noise counts as inaudible
# With 20 dB of attenuation an owner at 1 m is louder than the residual echo; with 12 dB soft words
# are missed.
GOOD_DB, FAIR_DB = 20.0, 12.0
CLIPPED = 16  # samples; the echo of clipped samples cannot be cancelled


@dataclass(frozen=True)
class EchoHealth:
    """`taken_db`: attenuation of the echo over all bands. `found`: last parts of keys
    `page-echo-…`, the judgement first."""

    taken_db: float
    heard_db: float
    left_db: float
    noise_db: float
    found: tuple[str, ...]

    @property
    def well(self) -> bool:
        return set(self.found) <= {"good", "unheard"}


def health(measured: EchoMeasured) -> EchoHealth:
    """Judge a measurement."""
    heard, left, noise = (
        _sum_db([getattr(band, name) for band in measured.bands])
        for name in ("heard_db", "left_db", "noise_db")
    )
    found = [_judgement(measured, heard, left, noise)]
    if measured.clipped >= CLIPPED:
        found.append("clipped")
    if measured.onsets:
        found.append("itself")
    return EchoHealth(heard - left, heard, left, noise, tuple(found))


def taken_db(band: EchoBand) -> float:
    """Attenuation of the echo in one band."""
    return band.heard_db - band.left_db


def _judgement(measured: EchoMeasured, heard: float, left: float, noise: float) -> str:
    if measured.sounded_s < LEAST_S:
        return "silent"
    if heard - noise < UNHEARD_DB or measured.canceller == "resting":
        return "unheard"
    if measured.canceller == "none":
        return "none"
    if heard - left >= GOOD_DB or left - noise < GONE_DB:
        return "good"
    return "fair" if heard - left >= FAIR_DB else "poor"


def _sum_db(levels: list[float]) -> float:
    return 10 * math.log10(sum(10 ** (level / 10) for level in levels) + 1e-12)
