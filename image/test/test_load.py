"""A box on a busy machine: its supervisor is killed during the start; it talks without restarts."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from appliance import settings
from appliance.messages.commands import Say
from lab.bench.harness import QUIET, TALK, WITHOUT_THINKER, BenchHarness
from tests.runtime.supervision.box import ROOT, load_of, survivors

KILLS = 60
LATEST_S = 3.0  # the supervisor is killed within this time of its start; by then all parts are up
BUSY_S = 30.0  # how long the machine is busy while the box talks
LOOPS = 9  # busy loops; with these, on two cores, parts were once seen to survive


def test_nothing_lives_on_for_two_seconds_whenever_the_supervisor_is_killed(tmp_path: Path) -> None:
    dice = random.Random(11)  # noqa: S311  # moments are no secrets
    left = {}
    with load_of(LOOPS):
        for number in range(KILLS):
            after_s = dice.uniform(0.0, LATEST_S)
            left[after_s] = survivors(tmp_path / str(number), after_s)
    assert {after_s: lines for after_s, lines in left.items() if lines} == {}


def test_a_box_that_talks_on_a_busy_machine_restarts_no_part(tmp_path: Path) -> None:
    subprocess.run(["make", "-s", "-C", ROOT / "hw/simcard"], check=True)
    starts: dict[str, int] = {}

    def act(stage: BenchHarness) -> None:
        with load_of(LOOPS):
            stage.send(Say(TALK))
            stage.wait(BUSY_S)
        parts = stage.supervisor.parts.items()
        starts.update((name, part.starts) for name, part in parts)

    parts = (*WITHOUT_THINKER, "words")
    BenchHarness(QUIET, settings.load_defaults(), act, parts=parts, state=tmp_path).play()
    assert set(starts.values()) == {1}, starts
