"""Software PWM for dimming."""

from __future__ import annotations

import threading

import pytest

from appliance.panel.software_pwm import SoftwarePwm, plan

PERIOD_S = 0.01


def test_every_line_is_lit_at_the_start_and_dark_after_its_share() -> None:
    at_s, lit = zip(*plan({22: 0.25, 23: 0.5}, PERIOD_S), strict=True)
    assert at_s == pytest.approx((0.0, 0.0025, 0.005))
    assert lit == ({22: True, 23: True}, {22: False}, {23: False})


def test_lines_with_one_share_switch_together_and_no_lines_need_no_steps() -> None:
    assert len(plan({22: 0.5, 23: 0.5}, PERIOD_S)) == 2
    assert plan({}, PERIOD_S) == []


@pytest.mark.parametrize(("share", "lit"), [(0.0, False), (1.0, True), (-1.0, False), (3.0, True)])
def test_fully_on_or_off_needs_one_write_and_no_thread(share: float, lit: bool) -> None:
    written: list[tuple[int, bool]] = []
    dimmer = SoftwarePwm(lambda line, on: written.append((line, on)), 100.0)
    dimmer.set(22, share)
    assert written == [(22, lit)]
    assert dimmer._thread is None
    dimmer.close()


def test_a_dimmed_line_alternates_until_it_is_set() -> None:
    written: list[bool] = []
    often = threading.Event()

    def write(_: int, on: bool) -> None:
        written.append(on)
        if len(written) == 10:
            often.set()

    dimmer = SoftwarePwm(write, 1000.0)
    dimmer.set(22, 0.5)
    assert often.wait(20.0)
    dimmer.set(22, 0.0)
    count = len(written)
    dimmer.close()
    assert written[:10] == [True, False] * 5
    assert (written[-1], len(written)) == (False, count)
