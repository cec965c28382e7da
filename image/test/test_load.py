"""A box on a busy machine: its supervisor is killed at random moments of the start."""

from __future__ import annotations

import random
from pathlib import Path

from tests.supervision.box import load_of, survivors

KILLS = 60
LATEST_S = 3.0  # after its start is the supervisor killed; by then all parts are up
LOOPS = 9  # on the two cores on which parts were seen to live on


def test_nothing_lives_on_for_two_seconds_whenever_the_supervisor_is_killed(tmp_path: Path) -> None:
    dice = random.Random(11)  # noqa: S311  # moments are no secrets
    left = {}
    with load_of(LOOPS):
        for number in range(KILLS):
            after_s = dice.uniform(0.0, LATEST_S)
            left[after_s] = survivors(tmp_path / str(number), after_s)
    assert {after_s: lines for after_s, lines in left.items() if lines} == {}
