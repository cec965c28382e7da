"""A turn replayed: when each rule would have ended it."""

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
def test_silence_alone_ends_a_turn_so_long_after_its_last_word(heard: list[HeardTurn]) -> None:
    turn = msgspec.structs.replace(SETTINGS.hearing.turn, end_ms=1600)
    for each in heard:
        waited_ms = ended_ms(each, turn, None, 0.0) - each.turn.end / 16
        assert 1450 < waited_ms < 1900


def test_a_late_answer_ends_a_turn_later_and_one_that_is_too_late_not_at_all(
    heard: list[HeardTurn],
) -> None:
    turn = msgspec.structs.replace(SETTINGS.hearing.turn, sure=0.0, likely=0.0)
    network = TurnNetwork()
    soon, later, late = (ended_ms(heard[0], turn, network, ms) for ms in (60.0, 200.0, 900.0))
    assert later - soon == pytest.approx(140.0)
    assert late == ended_ms(heard[0], turn, None, 0.0)
    assert len(heard[0].said) <= 2  # asked once, whatever the number of rules
