"""A program's self-check: its result is reported, and it runs in the sandbox."""

from __future__ import annotations

import pytest

from appliance.voice.engine.check import self_check
from tests.voice.engine.workshop import Bench

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("runs", "problem"),
    [("exit 0", ""), ("echo no such library >&2; exit 1", "no such library"),
     ("exit 7", "its check ended with code 7")],
)  # fmt: skip
def test_the_result_of_the_self_check_is_reported(bench: Bench, runs: str, problem: str) -> None:
    bench.make(runs=runs)
    assert self_check(bench.workshop.folder / "voice-0.1.0-") == problem


def test_the_self_check_runs_in_the_sandbox(bench: Bench) -> None:
    place = bench.workshop.folder / "written"
    bench.make(runs=f"echo word >{place}")
    assert self_check(bench.workshop.folder / "voice-0.1.0-")
    assert not place.exists() or not place.read_bytes()
