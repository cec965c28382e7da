"""`bench endpoint`: the rules replayed over the turns, the curve, and the tables."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import soundfile

from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.bench import endpoint
from lab.bench.benches import BenchOptions
from lab.bench.endpoint import RuleFigures, play, wait_at
from lab.bench.endpoint_replay import HeardTurn, process_turn
from lab.bench.endpoint_turns import SENTENCES, Turn, turns
from lab.sim.speech_source import spoken

SETTINGS = load_defaults()


@pytest.fixture(scope="module")
def some() -> list[Turn]:
    return list(turns([], 2, seed=1))


@pytest.fixture(scope="module")
def heard(some: list[Turn]) -> list[HeardTurn]:
    return [process_turn(turn, SETTINGS.hearing) for turn in some]


@pytest.mark.long
def test_a_patient_rule_cuts_off_no_turn_and_a_hasty_one_does(heard: list[HeardTurn]) -> None:
    turn = SETTINGS.hearing.turn
    patient = play(heard, msgspec.structs.replace(turn, end_ms=1700), None, 0.0)
    hasty = play(heard, msgspec.structs.replace(turn, end_ms=120), None, 0.0)
    assert (patient.cut, patient.pauses, len(patient.waits_ms)) == (0, 2, 2)
    assert hasty.cut == 2
    assert hasty.mean_ms < patient.mean_ms or not hasty.waits_ms


@pytest.mark.parametrize(("share", "wait"), [(0.5, 300.0), (0.1, 900.0), (0.01, None)])
def test_the_wait_at_a_share_is_the_shortest_of_the_rules_within_it(
    share: float, wait: float | None
) -> None:
    rules = [RuleFigures(cut, 100, (ms,), 0) for cut, ms in ((40, 300.0), (50, 350.0), (5, 900.0))]
    assert wait_at(rules, share) == wait


@pytest.mark.process
def test_the_bench_has_both_rules_and_the_curve_for_each_material(tmp_path: Path) -> None:
    recordings = tmp_path / "commands"
    recordings.mkdir()
    clip = spoken(" ".join(SENTENCES[0]), "en-us", 165, 50)
    soundfile.write(recordings / "somebody_0.wav", clip, RATE_HZ)
    options = BenchOptions(SETTINGS, events=1, recordings=tmp_path)
    sheets = endpoint.bench(options)
    assert [sheet.title.split(":")[0] for sheet in sheets] == [
        "recorded orders", "recorded orders", "espeak-ng sentences", "espeak-ng sentences",
        "One question, ms, on one thread", "A block of 5 ms",
    ]  # fmt: skip
    assert sheets[0].rows[0][0] == "silence of 500 ms"
    assert len(sheets[1].rows) == len(endpoint.CUT_SHARES)
