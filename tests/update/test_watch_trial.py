"""A box on trial is watched until its health check decides, and the progress is reported."""

from __future__ import annotations

import pytest

from appliance.update.health_check import HealthCheck
from appliance.update.watch_trial import watch_trial
from tests.update.release.workshop import Bench

pytestmark = pytest.mark.process


def test_a_box_that_starts_well_is_watched_until_it_passes(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    shares: list[float] = []
    assert watch_trial(HealthCheck("0.1.0", None), at.box, shares.append) == ""
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)


def test_a_box_that_runs_another_version_fails_when_the_patience_is_over(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    check = HealthCheck("0.2.0", None)
    shares: list[float] = []
    began_s = at.box.now_s()
    assert watch_trial(check, at.box, shares.append) != ""
    assert at.box.now_s() - began_s <= check.patience_s + 1.0
    assert shares == sorted(shares)
