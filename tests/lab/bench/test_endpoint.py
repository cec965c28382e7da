"""`bench endpoint`: its turns, the rules replayed over them, and the curve."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
import soundfile

from appliance.hear.turn.turn_network import TurnNetwork
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.bench import endpoint
from lab.bench.benches import BenchOptions
from lab.bench.endpoint import RuleFigures, play, wait_at
from lab.bench.endpoint_replay import HeardTurn, ended_ms, hear
from lab.bench.endpoint_turns import PAUSES_S, SENTENCES, Turn, quiet_places, turns
from lab.sim.speech_source import spoken

SETTINGS = load_defaults()


@pytest.fixture(scope="module")
def some() -> list[Turn]:
    return list(turns([], 2, seed=1))


@pytest.fixture(scope="module")
def heard(some: list[Turn]) -> list[HeardTurn]:
    return [hear(turn, SETTINGS.hearing) for turn in some]


def test_each_sentence_comes_whole_and_with_a_pause_of_known_length(some: list[Turn]) -> None:
    assert [turn.pause is None for turn in some] == [True, False] * 2
    for turn in some:
        assert len(turn.samples) - turn.end > 2 * RATE_HZ
        if turn.pause is not None:
            lasts_s = (turn.pause[1] - turn.pause[0]) / RATE_HZ
            assert PAUSES_S[0] - 0.001 <= lasts_s <= PAUSES_S[1] + 0.001


def test_silence_alone_ends_a_turn_so_long_after_its_last_word(heard: list[HeardTurn]) -> None:
    turn = msgspec.structs.replace(SETTINGS.hearing.turn, end_ms=1600)
    for each in heard:
        waited_ms = ended_ms(each, turn, None, 0.0) - each.turn.end / 16
        assert 1450 < waited_ms < 1900


def test_a_patient_rule_cuts_nobody_off_and_a_hasty_one_does(heard: list[HeardTurn]) -> None:
    turn = SETTINGS.hearing.turn
    patient = play(heard, msgspec.structs.replace(turn, end_ms=1700), None, 0.0)
    hasty = play(heard, msgspec.structs.replace(turn, end_ms=120), None, 0.0)
    assert (patient.cut, patient.pauses, len(patient.waits_ms)) == (0, 2, 2)
    assert hasty.cut == 2
    assert hasty.mean_ms < patient.mean_ms or not hasty.waits_ms


def test_a_late_answer_ends_a_turn_later_and_one_that_is_too_late_not_at_all(
    heard: list[HeardTurn],
) -> None:
    turn = msgspec.structs.replace(SETTINGS.hearing.turn, sure=0.0, likely=0.0)
    network = TurnNetwork()
    soon, later, late = (ended_ms(heard[0], turn, network, ms) for ms in (60.0, 200.0, 900.0))
    assert later - soon == pytest.approx(140.0)
    assert late == ended_ms(heard[0], turn, None, 0.0)
    assert len(heard[0].said) <= 2  # asked once, whatever the number of rules


@pytest.mark.parametrize(("share", "wait"), [(0.5, 300.0), (0.1, 900.0), (0.01, None)])
def test_the_wait_at_a_share_is_the_shortest_of_those_that_keep_to_it(
    share: float, wait: float | None
) -> None:
    rules = [RuleFigures(cut, 100, (ms,), 0) for cut, ms in ((40, 300.0), (50, 350.0), (5, 900.0))]
    assert wait_at(rules, share) == wait


def test_a_sentence_pauses_where_it_is_quiet() -> None:
    wave = np.ones(32_000)
    wave[12_000:12_600] = wave[20_000:20_600] = 0.01
    assert [round(each, -3) for each in sorted(quiet_places(wave, 2))] == [12_000, 20_000]


def test_it_prints_both_rules_of_each_material_and_the_curve(tmp_path: Path) -> None:
    orders = tmp_path / "commands"
    orders.mkdir()
    clip = spoken(" ".join(SENTENCES[0]), "en-us", 165, 50)
    soundfile.write(orders / "somebody_0.wav", clip, RATE_HZ)
    options = BenchOptions(SETTINGS, events=1, recordings=tmp_path)
    sheets = endpoint.bench(options)
    assert [sheet.title.split(":")[0] for sheet in sheets] == [
        "recorded orders", "recorded orders", "espeak-ng sentences", "espeak-ng sentences",
        "One question, ms, on one thread", "A block of 5 ms",
    ]  # fmt: skip
    assert sheets[0].rows[0][0] == "silence of 500 ms"
    assert len(sheets[1].rows) == len(endpoint.CUT_SHARES)
