"""The roofline estimate for a Raspberry Pi 5."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appliance.settings import load_defaults
from lab.bench.benches import BenchOptions
from lab.bench.model_shape import E2B, Shape
from lab.bench.roofline import (
    PI_5,
    TURN_END_MS,
    MachineRates,
    Range,
    bench,
    drawn_bytes,
    parts_ms,
    prompt_share,
)


def total(
    rates: MachineRates, which: int = 1, *, patched: bool = True, ahead: bool = True
) -> float:
    return sum(parts_ms(rates, which, patched=patched, ahead=ahead).values())


def test_the_bytes_read_per_token_agree_with_published_rates() -> None:
    assert 1.35e9 < drawn_bytes(E2B) < 1.6e9  # 9.9 GB/s at 6.71 tokens a second: 1.47


def test_layers_that_share_keys_and_values_are_about_two_thirds_of_a_prompt() -> None:
    assert 0.28 < prompt_share(E2B) < 0.34
    assert prompt_share(replace(E2B, shared=0)) == 1.0


def test_a_wider_model_reads_more() -> None:
    assert drawn_bytes(Shape(width=2 * E2B.width)) > drawn_bytes(E2B)


@pytest.mark.parametrize("which", [0, 1])
def test_the_patch_and_early_prefill_save_time_but_not_the_turn_end_silence(which: int) -> None:
    complete = total(PI_5, which)
    assert complete < total(PI_5, which, patched=False)
    assert complete < total(PI_5, which, ahead=False)
    assert complete >= TURN_END_MS


def test_on_an_unlimited_machine_only_the_turn_end_silence_remains() -> None:
    infinite = Range(1e9, 1e9)
    unlimited = MachineRates(infinite, infinite, Range(1.0, 1.0), Range(0.0, 0.0))
    parts = parts_ms(unlimited, 0)
    assert sum(parts.values()) - parts["voice"] - parts["ring and card"] == pytest.approx(
        TURN_END_MS
    )


def test_the_better_rates_give_the_shorter_times() -> None:
    better, worse = parts_ms(PI_5, 0), parts_ms(PI_5, 1)
    assert all(better[name] <= worse[name] for name in better if "silence" not in name)


def test_the_table_has_notes_with_its_assumptions_and_the_command_to_measure() -> None:
    (sheet,) = bench(BenchOptions(load_defaults()))
    assert len(sheet.rows) == len(parts_ms(PI_5, 0)) + 3
    notes = " ".join(sheet.notes)
    assert "Nothing of this was run on a Pi" in notes
    assert "interlude bench model" in notes
