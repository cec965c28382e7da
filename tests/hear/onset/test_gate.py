"""The gate fires at sound that stands out, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.onset.gate import OnsetGate, ResidualEcho
from appliance.messages.hearing import Judgement
from appliance.settings import HearingSettings, load_defaults

FLOOR_DB = -60.0
ABOVE_NOISE_DB = load_defaults().hearing.onset.above_noise_db


def blocks_to_fire(gate: OnsetGate, excess_db: float, *, most: int = 400) -> int | None:
    """The number of blocks at floor + margin + excess until the gate fires; None if never."""
    echo = ResidualEcho()
    for block in range(1, most + 1):
        if gate.process(FLOOR_DB + ABOVE_NOISE_DB + excess_db, FLOOR_DB, echo):
            return block
    return None


@pytest.mark.parametrize(
    ("excess_db", "blocks"), [(30, 2), (0, 2), (-2.25, 4), (-4, 18), (-4.5, None), (-20, None)]
)
def test_a_smaller_excess_takes_longer_to_fire(
    settings: HearingSettings, excess_db: float, blocks: int | None
) -> None:
    assert blocks_to_fire(OnsetGate(settings.onset), excess_db) == blocks


def test_a_click_of_one_block_does_not_fire_however_loud(settings: HearingSettings) -> None:
    gate, echo = OnsetGate(settings.onset), ResidualEcho()
    assert not any(gate.process(db, FLOOR_DB, echo) for db in [-60, -60, 0, -60, -60] * 20)


def test_steady_noise_never_fires(settings: HearingSettings) -> None:
    gate, echo = OnsetGate(settings.onset), ResidualEcho()
    noise = np.random.default_rng(3).standard_normal((20_000, 80))
    energies = FLOOR_DB + 10 * np.log10(np.mean(noise**2, axis=1))
    assert not any(gate.process(float(db), FLOOR_DB, echo) for db in energies)


def fires(gate: OnsetGate, excess_db: float, *, speaks: bool, blocks: int = 2) -> bool:
    """Whether sound of that excess makes the gate fire; silence follows."""
    echo = ResidualEcho()
    loud_db = FLOOR_DB + ABOVE_NOISE_DB + excess_db
    fired = True in [gate.process(loud_db, FLOOR_DB, echo, speaks) for _ in range(blocks)]
    gate.reset()
    for _ in range(200):
        gate.process(FLOOR_DB, FLOOR_DB, echo)
    return fired


def test_after_a_false_alarm_the_gate_needs_a_voice_until_it_calms_down(
    settings: HearingSettings,
) -> None:
    gate = OnsetGate(settings.onset)
    gate.false_alarm()
    assert not fires(gate, 20, speaks=False)
    assert fires(gate, 20, speaks=True)
    for _ in range(8000):
        gate.process(FLOOR_DB, FLOOR_DB, ResidualEcho())
    assert fires(gate, 0, speaks=False)


def test_continued_clatter_keeps_the_gate_guarded(settings: HearingSettings) -> None:
    gate = OnsetGate(settings.onset)
    gate.false_alarm()
    assert not any(fires(gate, 20, speaks=False) for _ in range(300))  # one a second, 5 minutes


def test_a_word_among_the_dishes_leaves_the_gate_guarded(settings: HearingSettings) -> None:
    gate = OnsetGate(settings.onset)
    gate.enter_guarded()
    assert fires(gate, 20, speaks=True, blocks=100)
    assert not fires(gate, 20, speaks=False)


def test_after_long_clatter_a_single_block_does_not_fire(settings: HearingSettings) -> None:
    gate, echo = OnsetGate(settings.onset), ResidualEcho()
    gate.enter_guarded()
    loud_db = FLOOR_DB + ABOVE_NOISE_DB + 20
    for _ in range(2000):  # 10 s without speech and without a reset
        assert not gate.process(loud_db, FLOOR_DB, echo, speaks=False)
    for _ in range(100):
        gate.process(FLOOR_DB, FLOOR_DB, echo)
    assert not gate.process(loud_db, FLOOR_DB, echo, speaks=True)


def test_the_voice_band_counts_up_to_150_ms_after_the_sound(settings: HearingSettings) -> None:
    for late_blocks, expected in ((25, True), (40, False)):
        gate, echo = OnsetGate(settings.onset), ResidualEcho()
        gate.false_alarm()
        loud_db = FLOOR_DB + settings.onset.above_noise_db + 10
        for _ in range(2):
            assert not gate.process(loud_db, FLOOR_DB, echo)
        for _ in range(late_blocks):
            assert not gate.process(FLOOR_DB, FLOOR_DB, echo)
        assert gate.process(FLOOR_DB, FLOOR_DB, echo, True) == expected


def test_over_the_box_sound_must_exceed_the_expected_echo(settings: HearingSettings) -> None:
    echo = ResidualEcho()
    for _ in range(2000):
        echo.update(-20, -20, -45, learn=True)
    assert -47 < echo.db < -43
    assert not any(OnsetGate(settings.onset).process(-40, -65, echo) for _ in range(100))
    gate = OnsetGate(settings.onset)
    assert [gate.process(-30, -65, echo) for _ in range(2)] == [False, True]


def test_late_reverberation_is_expected_and_not_charged_to_the_canceller() -> None:
    echo = ResidualEcho()
    for _ in range(4000):
        echo.update(-20, -20, -45, learn=True, late_db=-45)
    assert echo.db > -44
    echo.update(-20, -20, -45, learn=False)
    assert echo.db == -50  # the limit of the trust in the canceller


def test_a_cold_canceller_is_not_trusted() -> None:
    echo = ResidualEcho()
    echo.update(-20, -90, -22, learn=True)
    assert echo.db > -25


def test_an_estimate_that_leaps_is_speech_and_one_that_follows_the_box_is_echo() -> None:
    leaps, follows = ResidualEcho(), ResidualEcho()
    for _ in range(4000):
        leaps.update(-20, -75, -70, learn=True, floor_db=-70)
        follows.update(-20, -40, -60, learn=True, floor_db=-70)
    leaps.update(-20, -35, -33, learn=True, floor_db=-70)
    assert leaps.db < -65
    follows.update(-15, -35, -55, learn=True, floor_db=-70)
    assert -57 < follows.db < -53


@pytest.mark.parametrize(("floor_db", "expected_db"), [(-70.0, -80.0), (-100.0, -70.0)])
def test_room_noise_is_not_taken_for_echo(floor_db: float, expected_db: float) -> None:
    echo = ResidualEcho()
    for _ in range(4000):
        echo.update(-20, -100, -70, learn=True, floor_db=floor_db)
    assert echo.db == pytest.approx(expected_db, abs=1.0)


def test_soon_after_the_box_falls_silent_no_echo_is_expected() -> None:
    echo = ResidualEcho()
    echo.update(-20, -20, -45, learn=True)
    for _ in range(150):
        echo.update(-100, -100, -60, learn=True)
    assert not echo.audible
    assert echo.db == -100


def voice_at_once_or_late(gate: OnsetGate, late_blocks: int) -> None:
    """An "s" that stands out, followed by a vowel that the voice-band detector recognises."""
    echo, loud_db = ResidualEcho(), FLOOR_DB + ABOVE_NOISE_DB + 10
    for _ in range(late_blocks):
        gate.process(loud_db, FLOOR_DB, echo)
    gate.process(loud_db, FLOOR_DB, echo, speaks=True)
    for _ in range(100):
        gate.process(loud_db, FLOOR_DB, echo, followed=True)
    gate.confirm_voice()


@pytest.mark.parametrize(("late_blocks", "guarded"), [(20, False), (40, True)])
def test_words_whose_vowel_follows_in_time_do_not_keep_the_gate_guarded(
    settings: HearingSettings, late_blocks: int, *, guarded: bool
) -> None:
    gate, echo = OnsetGate(settings.onset), ResidualEcho()
    gate.enter_guarded()
    for _ in range(60):
        if late_blocks == 20:
            voice_at_once_or_late(gate, late_blocks)
        else:  # no voice is confirmed
            fires(gate, 20, speaks=False, blocks=late_blocks)
        for _ in range(100):
            gate.process(FLOOR_DB, FLOOR_DB, echo)
    assert gate.guarded == guarded


@pytest.mark.parametrize(("dish", "guarded"), [(False, False), (True, True)])
def test_some_seconds_of_undisturbed_own_voice_end_the_guarded_state(
    settings: HearingSettings, *, dish: bool, guarded: bool
) -> None:
    gate, echo = OnsetGate(settings.onset), ResidualEcho()
    gate.enter_guarded()
    for block in range(1300):  # 6.5 s
        echo.update(-20, -40, -65, learn=True)
        loud = dish and block in range(200, 210)
        gate.process(-20.0 if loud else -65.0, -65.0, echo)
    assert gate.guarded == guarded


@pytest.mark.parametrize(("kind", "guarded"), [("noise", True), ("backchannel", False)])
def test_a_verdict_of_noise_keeps_the_gate_guarded_and_a_backchannel_does_not(
    settings: HearingSettings, kind: Judgement, *, guarded: bool
) -> None:
    gate = OnsetGate(settings.onset)
    gate.enter_guarded()
    for _ in range(40):  # one every 2 s
        assert fires(gate, 20, speaks=True) or not guarded
        gate.on_verdict(kind)
        for _ in range(198):
            gate.process(FLOOR_DB, FLOOR_DB, ResidualEcho())
    assert gate.guarded == guarded


@pytest.mark.parametrize(("over_echo_db", "fires"), [(2.0, False), (6.0, True)])
def test_the_voice_band_counts_only_above_the_expected_echo(
    settings: HearingSettings, over_echo_db: float, fires: bool
) -> None:
    echo = ResidualEcho()
    for _ in range(2000):
        echo.update(-20, -20, -45, learn=True)
    gate = OnsetGate(settings.onset)
    gate.enter_guarded()
    for _ in range(3):
        assert not gate.process(echo.db + 20, -65, echo)  # a dish
    assert gate.process(echo.db + over_echo_db, -65, echo, speaks=True) == fires


def test_noise_beside_a_converged_canceller_is_not_taken_for_echo() -> None:
    echoes = []
    for known in (True, False):
        echo = ResidualEcho()
        for _ in range(4000):  # dishes over the echo, whose estimate is 20 dB under what is played
            echo.update(-20, -40, -33, learn=True, known=known)
        echoes.append(echo.db)
    assert echoes[0] < -42
    assert echoes[1] > -34
