"""Replayed turns: when each rule ends them."""

from __future__ import annotations

import msgspec
import pytest

from appliance.hear.turn.turn_network import TurnNetwork
from appliance.settings import load_defaults
from lab.bench.endpoint_replay import HeardTurn, ended_ms, process_turn
from lab.bench.endpoint_turns import turns

SETTINGS = load_defaults()


@pytest.fixture(scope="module")
def heard() -> list[HeardTurn]:
    return [process_turn(turn, SETTINGS.hearing) for turn in turns([], 2, seed=1)]


@pytest.mark.long
def test_with_silence_alone_a_turn_ends_after_end_ms(heard: list[HeardTurn]) -> None:
    turn = msgspec.structs.replace(SETTINGS.hearing.turn, end_ms=1600)
    for heard_turn in heard:
        waited_ms = ended_ms(heard_turn, turn, None, 0.0) - heard_turn.turn.end / 16
        assert 1450 < waited_ms < 1900


@pytest.mark.long
def test_a_slower_network_ends_a_turn_later_and_a_too_slow_one_has_no_effect(
    heard: list[HeardTurn],
) -> None:
    turn = msgspec.structs.replace(SETTINGS.hearing.turn, sure=0.0, likely=0.0)
    network = TurnNetwork()
    soon, later, late = (ended_ms(heard[0], turn, network, ms) for ms in (60.0, 200.0, 900.0))
    assert later - soon == pytest.approx(140.0)
    assert late == ended_ms(heard[0], turn, None, 0.0)
    assert len(heard[0].said) <= 2  # the network is asked once, whatever the number of rules
