"""When a started release has passed its health check, and when it has failed."""

from __future__ import annotations

import pytest

from appliance.runtime.status import SupervisorStatus
from appliance.update.health_check import PATIENCE_S, STEADY_S, HealthCheck, HealthReading

OLD = SupervisorStatus(version="1.0.0", pid=7, state="idle", ready=True, healthy=True)
NEW = SupervisorStatus(version="2.0.0", pid=8, state="idle", ready=True, healthy=True)
WELL = HealthReading("active", 0, NEW)


def watched(
    *readings: HealthReading, before: SupervisorStatus | None = OLD, every_s: float = 1.0
) -> str | None:
    """The verdict after these readings, the last of which is repeated until the time is over."""
    gate = HealthCheck("2.0.0", before)
    now_s = 0.0
    for reading in readings:
        if (verdict := gate.evaluate(reading, now_s)) is not None:
            return verdict
        now_s += every_s
    while now_s < PATIENCE_S + 10.0:
        if (verdict := gate.evaluate(readings[-1], now_s)) is not None:
            return verdict
        now_s += every_s
    return None


def test_a_box_that_stays_healthy_passes() -> None:
    assert watched(HealthReading("active", 0, OLD), HealthReading("starting"), WELL) == ""


def test_a_box_passes_only_after_a_steady_time() -> None:
    gate = HealthCheck("2.0.0", OLD)
    assert gate.evaluate(WELL, 0.0) is None
    assert gate.evaluate(WELL, STEADY_S - 0.1) is None
    assert gate.evaluate(WELL, STEADY_S) == ""


def test_an_interruption_restarts_the_steady_time() -> None:
    gate = HealthCheck("2.0.0", OLD)
    gate.evaluate(WELL, 0.0)
    gate.evaluate(
        HealthReading("active", 0, SupervisorStatus(version="2.0.0", pid=8, state="starting")), 3.0
    )
    gate.evaluate(WELL, 4.0)
    assert gate.evaluate(WELL, STEADY_S) is None
    assert gate.evaluate(WELL, 4.0 + STEADY_S) == ""


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (HealthReading("failed"), "failed to start"),
        (HealthReading("starting", restarts=1), "ended by itself"),
        (HealthReading("starting"), "not well within 200 s (the service is starting)"),
        (HealthReading("stopped"), "not well within 200 s (the service is stopped)"),
        (HealthReading("active"), "not well within 200 s (the service is active)"),
        (HealthReading("active", 0, OLD), "not well within 200 s (1.0.0 is idle)"),
        (
            HealthReading(
                "active", 0, SupervisorStatus(version="1.0.0", pid=9, ready=True, healthy=True)
            ),
            "1.0.0 was started in its place",
        ),
        (
            HealthReading(
                "active", 0, SupervisorStatus(version="2.0.0", pid=8, ready=True, failed=("link",))
            ),
            "link failed again and again",
        ),
        (
            HealthReading(
                "active", 0, SupervisorStatus(version="2.0.0", pid=8, state="failed", ready=True)
            ),
            "not well within 200 s (2.0.0 is failed)",
        ),
    ],
)
def test_an_unhealthy_release_is_reported_with_the_reason(reading: HealthReading, why: str) -> None:
    assert why in (watched(reading) or "")


READING = SupervisorStatus(version="2.0.0", pid=8, state="idle", reading=True, healthy=True)


def test_the_first_prefill_of_a_new_model_extends_the_timeout() -> None:
    gate = HealthCheck("2.0.0", OLD)
    for now_s in range(0, 350, 5):
        assert gate.evaluate(HealthReading("starting", 0, READING), now_s) is None
    assert gate.evaluate(WELL, 350.0) is None
    assert gate.evaluate(WELL, 350.0 + STEADY_S) == ""


def test_a_release_that_never_ends_its_prefill_fails() -> None:
    gate = HealthCheck("2.0.0", OLD)
    assert gate.evaluate(HealthReading("starting", 0, READING), 0.0) is None
    assert "not well within 390 s" in (
        gate.evaluate(HealthReading("starting", 0, READING), 390.0) or ""
    )


def test_an_old_process_that_is_still_stopping_does_not_count_as_the_new_one() -> None:
    stopping = SupervisorStatus(version="2.0.0", pid=7, state="idle", ready=True, healthy=True)
    gate = HealthCheck("2.0.0", OLD)
    gate.evaluate(HealthReading("active", 0, stopping), 0.0)
    assert gate.evaluate(HealthReading("active", 0, stopping), 2 * STEADY_S) is None


def test_a_part_that_had_failed_in_the_old_release_too_does_not_fail_the_new_one() -> None:
    lame = SupervisorStatus(
        version="2.0.0", pid=8, state="idle", ready=True, healthy=True, failed=("link",)
    )
    old = SupervisorStatus(version="1.0.0", pid=7, ready=True, healthy=True, failed=("link",))
    assert watched(HealthReading("active", 0, lame), before=old) == ""
    assert watched(HealthReading("active", 0, lame), before=OLD) == "link failed again and again"


def test_a_box_without_a_sound_card_may_be_updated() -> None:
    unfit = SupervisorStatus(version="1.0.0", pid=7, state="failed", ready=True, healthy=False)
    still = SupervisorStatus(version="2.0.0", pid=8, state="failed", ready=True, healthy=False)
    assert watched(HealthReading("active", 0, still), before=unfit) == ""
    assert watched(HealthReading("active", 0, still), before=OLD) != ""


def test_a_box_that_did_not_run_before_may_lack_a_sound_card_but_no_part() -> None:
    cardless = SupervisorStatus(version="2.0.0", pid=8, state="failed", ready=True, healthy=True)
    lame = SupervisorStatus(
        version="2.0.0", pid=8, state="idle", ready=True, healthy=True, failed=("link",)
    )
    assert watched(HealthReading("active", 0, cardless), before=None) == ""
    assert watched(HealthReading("active", 0, lame), before=None) == "link failed again and again"
